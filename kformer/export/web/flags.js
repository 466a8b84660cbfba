// Flags of degenerate output, computed from ids as `kformer.inference.degenerate` does.

const MIN_ECHOES = 8; // Ids that must repeat the n-gram before them, in a loop.
const MIN_TIMES = 3; // How often the n-gram of a loop must come.
const MAX_RATIO = 3; // Times as many ids as the other side, from where a length is absurd,
const SLACK = 10; // and so many more, because a short sentence may well need them.

/**
 * Returns the flags of a translation, usually none.
 * @param {number[]} source The ids of a line with its end id and padding.
 * @param {number[]} found The ids of its translation, of fixed length: padding follows the end id.
 * @param {boolean} cut Whether the line was cut.
 * @param {{padding: number, end: number}} special The padding id, and the target's end id.
 * @returns {string[]} Of "source cut", "length limit", "loop", "length ratio".
 */
export function translationFlags(source, found, cut, special) {
  const flags = cut ? ["source cut"] : [];
  const read = source.filter((id) => id !== special.padding);
  if (read.length === 1) return flags; // A blank line.
  let length = found.indexOf(special.end);
  if (length < 0) {
    flags.push("length limit");
    length = found.length;
    while (length > 0 && found[length - 1] === special.padding) length -= 1;
  }
  return [...flags, ...degenerateFlags(read.slice(0, -1), found.slice(0, length))];
}

/** Returns which of "loop" and "length ratio" apply to ids without start, end and padding. */
function degenerateFlags(source, target) {
  const flags = [];
  const times = repetitions(target);
  if (times >= MIN_TIMES && times > 2 * repetitions(source)) flags.push("loop");
  const [fewer, more] = [source.length, target.length].sort((a, b) => a - b);
  const absurd = more > MAX_RATIO * fewer + SLACK;
  if (absurd || (source.length && !target.length)) flags.push("length ratio");
  return flags;
}

/** Returns how often the n-gram that makes up most of `ids` repeats; 1 if there is none. */
function repetitions(ids) {
  const needed = Math.max(MIN_ECHOES, Math.floor((ids.length + 1) / 2));
  if (ids.length - new Set(ids).size < needed) return 1;
  let most = 1;
  for (let n = 1; n <= Math.floor(ids.length / 2); n += 1) {
    let echoes = 0;
    let longest = 0;
    for (let i = n; i < ids.length; i += 1) {
      echoes = ids[i] === ids[i - n] ? echoes + 1 : 0;
      longest = Math.max(longest, echoes);
    }
    if (longest >= needed) most = Math.max(most, Math.floor(longest / n) + 1);
  }
  return most;
}
