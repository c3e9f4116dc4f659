/** Comments are sentences that stand by themselves, and fit into the width of the code. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Contains the head of a generated file as a text. */
const generator = 'config/kubernetes-types/generate.ts';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync(
  'git',
  ['ls-files', '-z', 'src/*.ts', 'src/*.tsx', 'config/*.ts', 'test/*.ts', 'build.ts'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\0')
  .filter((path) => path !== '' && !path.endsWith('.gen.ts') && path !== generator);

/** Width of the code, which the formatter holds. */
const maxCharacters = 110;
/** Words by which a fragment begins that names no subject; a comment begins with a noun or a verb. */
const fragment =
  /^\s*(?:\/\*\*|\/\/) (?:Of|By|Those|That|Whom?|Whose|What|Whether|Where|Which|It|They|So|Not)\b/;
/** The same on the line after the one that opens a comment. */
const fragmentBelow =
  /^\s*\/\*\*\n\s*\* (?:Of|By|Those|That|Whom?|Whose|What|Whether|Where|Which|It|They|So|Not)\b/gm;
/**
 * Words that describe processes as persons; write that a kubelet reports, a node requires, a field is
 * unknown.
 */
const personal =
  /(?<![\w`#.])(?:told|tells?|learns?|wants?|knows|believes?|thinks|hears?|talks?|whoever|whom|somebody|waited for)(?![\w`(])/i;
const isComment = (line: string) => /^\s*(?:\/\*|\/\/|\* |\*$)/.test(line) && !line.includes('biome-ignore');

/** Returns the places of comment lines that break a rule: `src/x.ts:12: …`. */
function faultsOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const faults = text.split('\n').flatMap((line, index) => {
    if (!isComment(line)) return [];
    const place = `${path}:${index + 1}`;
    if (line.length > maxCharacters) return [`${place}: ${line.length} characters wide`];
    // The second line of a comment of several lines continues a sentence.
    const goesOn = /^\s*\/\//.test(text.split('\n')[index - 1] ?? '');
    return fragment.test(line) && !goesOn ? [`${place}: ${line.trim()}`] : [];
  });
  return [...faults, ...Array.from(text.matchAll(fragmentBelow), ([found]) => `${path}: ${found.trim()}`)];
}

/** Returns the places of comment lines with a personal word. */
const personalLines = (path: string): string[] =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      isComment(line) && personal.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );

describe('comments of the source and its tests', () => {
  it('describe processes without verbs of persons (src)', () => {
    assert.deepEqual(sources.filter((path) => path.startsWith('src/')).flatMap(personalLines), []);
  });
  it('are searched for whole words outside of code', () => {
    assert.match(' * so that the client learns of the change', personal);
    assert.doesNotMatch(' * Appends the knowledge of `told`.', personal);
  });

  it(`are at most ${maxCharacters} characters wide, and begin with a noun or a verb`, () => {
    assert.deepEqual(sources.flatMap(faultsOf), []);
  });
});
