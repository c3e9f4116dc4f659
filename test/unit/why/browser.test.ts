/** The rules in a JavaScript engine that has nothing but ECMAScript: what runs there runs in browsers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { featureRules } from '../../../src/features/why.ts';
import { explain } from '../../../src/why/explain.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { featureCases } from './cases-of-features.ts';
import { imageCases } from './cases-of-images.ts';
import { otherCases } from './cases-of-others.ts';
import { placeCases } from './cases-of-places.ts';
import { podCases } from './cases-of-pods.ts';
import { schedulingCases } from './cases-of-scheduling.ts';
import { serviceCases } from './cases-of-services.ts';
import { now } from './why-objects.ts';

const root = join(import.meta.dirname, '../../..');
const entry = `
  export { inOneGo } from './src/apimachinery/steps.ts';
  export { featureRules } from './src/features/why.ts';
  export { explain, explainAll } from './src/why/explain.ts';
  export { RuleBook } from './src/why/rule-book.ts';
  export { rules } from './src/why/rules/index.ts';
  export { Snapshot } from './src/why/snapshot.ts';
  export { pastOf } from './src/why/timeline.ts';`;

const book = new RuleBook({ ...rules, ...featureRules });
const allCases = [
  ...podCases,
  ...schedulingCases,
  ...otherCases,
  ...serviceCases,
  ...imageCases,
  ...placeCases,
  ...featureCases,
];
const cases = allCases.map(({ about, objects }) => ({
  about: about ?? { key: 'pods' as const, namespace: 'default', name: 'web' },
  objects,
}));
const nowMs = Date.parse(now);

describe('the rules of why in a browser', () => {
  let inputs: readonly string[];
  let answers: readonly unknown[];

  before(async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: entry, resolveDir: root, loader: 'ts' },
      ...{ bundle: true, format: 'iife', globalName: 'why', platform: 'browser', target: 'es2023' },
      ...{ write: false, metafile: true, logLevel: 'silent', absWorkingDir: root },
    });
    inputs = Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'));
    const context = createContext({ input: JSON.stringify({ cases, nowMs }) });
    runInContext(outputFiles[0]?.text ?? '', context);
    const output = runInContext(
      `const { cases, nowMs } = JSON.parse(input);
       const book = new why.RuleBook({ ...why.rules, ...why.featureRules });
       JSON.stringify(cases.map(({ about, objects }) => {
         const seen = new why.Snapshot({ nowMs, objects });
         why.pastOf(seen, about);
         why.inOneGo(why.explainAll(seen, book));
         return why.explain(seen, about, book);
       }))`,
      context,
    );
    answers = JSON.parse(String(output)) as readonly unknown[];
  });

  it('find the same chain as in Node for every case of every rule', () => {
    const expected = cases.map(({ about, objects }) =>
      JSON.parse(JSON.stringify(explain(new Snapshot({ nowMs, objects }), about, book))),
    );
    assert.ok(expected.length > 50 && expected.every((chain) => chain.length > 0));
    assert.deepEqual(answers, expected);
  });

  it('import nothing but rules, objects and the quoting of shell words', () => {
    const others = inputs.filter((path) => !/^src\/(why|apimachinery|features)\//.test(path));
    assert.deepEqual(others, ['src/base/shell-words.ts']);
  });
});
