// Aligns the words of sentences with those of their translations, from these pairs alone.
//
// It is `kformer.documents.pair_alignment`, which has the sources, for a text in the page.

const ROUNDS = 4; // Of expectation and maximization.
const BELONGS_TO_NONE = 0.08; // Probability of a word.
const COUNT_SMOOTHING = 0.01; // Added to each count of two words.
const SAME_WORD = 10; // How much likelier two equal words belong together at first.
const STEEPNESS = 4; // Of the prior at the diagonal.

/**
 * Returns how strongly the words of each pair belong together: for each target word an array of
 * its weights at the source words, whose sum is 1.
 * @param {{source: string[], target: string[]}[]} pairs Words, at least one on each side.
 */
export function alignPairs(pairs) {
  const priors = pairs.map(priorOf);
  const sources = pairs.map(({ source }) => source);
  const targets = pairs.map(({ target }) => target);
  const forward = posteriorsOf(sources, targets, priors);
  const backward = posteriorsOf(targets, sources, priors.map(transposed));
  return pairs.map((_, i) => {
    const bySource = transposed(backward[i]);
    return mutual(forward[i].map((row, t) => row.map((weight, s) => weight + bySource[t][s] + 1e-3)));
  });
}

/** A word is likely to belong to an equal word, and to one at the same share of its sentence. */
function priorOf(pair) {
  const [source, target] = [pair.source, pair.target].map((words) => words.map((word) => word.toLowerCase()));
  return target.map((translated, t) =>
    source.map((word, s) => {
      const distance = Math.abs((t + 0.5) / target.length - (s + 0.5) / source.length);
      return Math.exp(-STEEPNESS * distance) * (word === translated ? SAME_WORD : 1);
    }),
  );
}

/** Returns the probability that each target word belongs to each source word, by IBM's model 1. */
function posteriorsOf(sources, targets, priors) {
  const [sourceIds, targetIds] = [wordIds(sources), wordIds(targets)];
  const targetNumber = 1 + targetIds.flat().reduce((most, id) => Math.max(most, id), 0);
  const scaled = priors.map((prior) =>
    byRow(prior).map((row) => row.map((weight) => (1 - BELONGS_TO_NONE) * weight)),
  );
  const numbers = new Map(); // Of two words that are in a pair together.
  const words = []; // The source word of each.
  const places = targetIds.map((targetRow, pair) =>
    targetRow.map((target) =>
      sourceIds[pair].map((source) => {
        const code = source * targetNumber + target;
        if (!numbers.has(code)) numbers.set(code, words.push(source) - 1);
        return numbers.get(code);
      }),
    ),
  );
  const likelihoods = new Float64Array(words.length).fill(1);
  let none = 1;
  let posteriors = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const counts = new Float64Array(words.length);
    posteriors = scaled.map((prior, pair) =>
      prior.map((row, t) => {
        const place = places[pair][t];
        const weights = row.map((weight, s) => weight * likelihoods[place[s]]);
        const sum = sumOf(weights) + BELONGS_TO_NONE * none;
        return weights.map((weight, s) => {
          counts[place[s]] += weight / sum;
          return weight / sum;
        });
      }),
    );
    const totals = new Float64Array(words.length).fill(COUNT_SMOOTHING * targetNumber);
    counts.forEach((count, i) => (totals[words[i]] += count));
    counts.forEach((count, i) => (likelihoods[i] = (count + COUNT_SMOOTHING) / totals[words[i]]));
    none = 1 / targetNumber;
  }
  return posteriors;
}

function wordIds(texts) {
  const numbers = new Map();
  return texts.map((words) =>
    words.map((word) => {
      const key = word.toLowerCase();
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key);
    }),
  );
}

/** Returns weights that are high where they are high among their row and their column. */
function mutual(weights) {
  let balanced = weights;
  for (let time = 0; time < 3; time += 1) balanced = byColumn(byRow(balanced));
  const [rows, columns] = [byRow(balanced), byColumn(balanced)];
  return byRow(rows.map((row, t) => row.map((weight, s) => weight * columns[t][s])));
}

function byRow(weights) {
  return weights.map((row) => {
    const sum = sumOf(row);
    return row.map((weight) => weight / sum);
  });
}

function byColumn(weights) {
  return transposed(byRow(transposed(weights)));
}

function transposed(weights) {
  return weights[0].map((_, s) => weights.map((row) => row[s]));
}

export function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
