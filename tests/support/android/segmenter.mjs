// Answers a line of JSON, {language, text}, with the ends of its sentences.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { language, text } = JSON.parse(line);
  const segments = [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)];
  const ends = segments.map(({ index, segment }) => index + segment.length);
  console.log(JSON.stringify({ ends }));
}
