// Loads and closes the translator many times in Node.js; prints the memory after some, and at the end.

import { Translator } from "kformer-de-en";

const sizes = [];
for (let i = 1; i <= 25; i += 1) {
  const translator = await Translator.load();
  const [first, queued] = [translator.translate("wir"), translator.translate("uns")];
  await first;
  translator.close();
  await queued.catch(() => {});
  translator.close();
  if (i === 5 || i === 25) sizes.push(process.memoryUsage().rss / 1e6);
}
console.log(JSON.stringify(sizes));
