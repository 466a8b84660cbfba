"use strict";
// What both contenders do, with the function `open` of the script before this one. It resolves to a
// function from sentences to the promise of their translations.

/**
 * @param {string} first The sentence of the first answer.
 * @param {string[]} alone Sentences to translate one after the other.
 * @param {string[]} together Sentences to translate at once.
 * @returns {Promise<object>} Seconds of each, those of `first` from the start of loading; `one`, of
 *     each sentence alone; and all translations.
 */
async function race(first, alone, together) {
  const times = [performance.now()];
  const done = () => times.push(performance.now());
  const translate = await open();
  const texts = await translate([first]);
  done();
  const one = [];
  for (const sentence of alone) {
    const before = performance.now();
    texts.push(...(await translate([sentence])));
    one.push((performance.now() - before) / 1000);
  }
  done();
  texts.push(...(await translate(together)));
  done();
  const seconds = times.slice(1).map((time, i) => (time - times[i]) / 1000);
  return { first: seconds[0], alone: seconds[1], together: seconds[2], one, texts };
}
