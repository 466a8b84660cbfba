// Leaves in a .tflite file only the graphs that are run, because LiteRT lays out the weights of all
// graphs anew while it loads them: of each signature, and of each length of a sentence.
//
// A file is a FlatBuffer: a table begins with the distance back to its list of fields; a field holds
// a number, or the distance to a table, a vector or a string; a vector begins with its length.

const [SUBGRAPHS, SIGNATURES] = [2, 7]; // Fields of a Model.
const OPERATORS = 3; // Of a SubGraph.
const [KEY, SUBGRAPH] = [2, 4]; // Of a SignatureDef.
const [OPTIONS_TYPE, OPTIONS] = [3, 4]; // Of an Operator.
const [IF, WHILE] = [92, 93]; // Types of options, whose first two fields are graphs.

/**
 * Empties the graphs that a signature does not run, in place.
 * @param {Uint8Array} bytes A .tflite file.
 * @param {string} name Of the signature.
 * @param {number[]} lengths Of the branches that it has for sentences of up to so many ids.
 * @param {function(number): boolean} isKept Whether the branch of a length stays. A shorter sentence
 *     than those of another branch takes the next longer one that stays.
 * @returns {boolean} Whether the file has the signature.
 */
export function keepGraphs(bytes, name, lengths = [], isKept = () => true) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (place) => view.getUint32(place, true);
  const follow = (place) => place + number(place);

  /** Returns the place of a field in a table, or 0 if the table lacks it. */
  const field = (table, index) => {
    const fields = table - view.getInt32(table, true);
    const entry = 4 + 2 * index;
    const distance = entry < view.getUint16(fields, true) && view.getUint16(fields + entry, true);
    return distance ? table + distance : 0;
  };

  /** Returns the tables in a vector. */
  const tables = (table, index) => {
    const place = field(table, index);
    const vector = place && follow(place);
    return Array.from({ length: vector && number(vector) }, (_, i) => follow(vector + 4 + 4 * i));
  };
  const operatorsOf = (graph) => tables(graphs[graph], OPERATORS);
  const typeOf = (operator) => {
    const place = field(operator, OPTIONS_TYPE);
    return place && view.getUint8(place);
  };

  /** Returns the places of the numbers of the two graphs that an IF or a WHILE runs. */
  const branchesOf = (operator) => [0, 1].map((index) => field(follow(field(operator, OPTIONS)), index));

  /** Returns IFs, each of which is all that the second graph of the one before runs. */
  const nested = (operator) => {
    const inner = operatorsOf(number(branchesOf(operator)[1]));
    const hasMore = inner.length === 1 && typeOf(inner[0]) === IF;
    return [operator, ...(hasMore ? nested(inner[0]) : [])];
  };

  const model = follow(0);
  const graphs = tables(model, SUBGRAPHS);
  const isNamed = (signature) => {
    const text = follow(field(signature, KEY));
    return new TextDecoder().decode(bytes.subarray(text + 4, text + 4 + number(text))) === name;
  };
  const signature = tables(model, SIGNATURES).find(isNamed);
  if (!signature) return false;
  const entry = field(signature, SUBGRAPH);
  const start = entry && number(entry);
  const choices = operatorsOf(start).filter((operator) => typeOf(operator) === IF).map(nested);
  // Each IF runs its first graph up to a length, and else its second; both have the same inputs.
  for (const [i, choice] of (choices.find(({ length }) => length === lengths.length - 1) ?? []).entries()) {
    const [first, second] = branchesOf(choice);
    if (!isKept(lengths[i])) view.setUint32(first, number(second), true);
    else if (!lengths.slice(i + 1).some(isKept)) view.setUint32(second, number(first), true);
  }

  const needed = new Set([start]);
  for (const graph of needed) {
    for (const operator of operatorsOf(graph)) {
      if (![IF, WHILE].includes(typeOf(operator))) continue;
      for (const place of branchesOf(operator)) needed.add(place && number(place));
    }
  }
  for (const [index, graph] of graphs.entries()) {
    const place = field(graph, OPERATORS);
    if (place && !needed.has(index)) view.setUint32(follow(place), 0, true);
  }
  return true;
}
