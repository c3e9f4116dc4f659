/** The repository has names, types and numbers of Kubernetes, but none of its sentences. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fieldDocs } from '../../config/build/field-docs.ts';

const root = join(import.meta.dirname, '../..');
/** Minimum number of equal words in a row; fewer may be equal by chance. */
const run = 10;

function* runsOf(text: string): Iterable<string> {
  const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? [];
  for (let start = 0; start + run <= words.length; start++) yield words.slice(start, start + run).join(' ');
}

test('no description of a type or field of Kubernetes is copied into the repository', () => {
  const texts = Object.values(fieldDocs()).flatMap((type) => Object.values(type));
  // Lists of the values of a field are left out: values are names, which may be repeated.
  const descriptions = texts.map((text) => text.replace(/^ *- `"[^`]*"`/gm, ''));
  const theirs = new Set(descriptions.flatMap((text) => [...runsOf(text)]));
  assert.ok(theirs.size > 20_000, `only ${theirs.size} runs of words: the descriptions were not found`);
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const copied = files
    .filter((file) => /\.(ts|md|c|ya?ml|json|txt|tsv)$/.test(file) && existsSync(join(root, file)))
    .flatMap((file) => {
      const found = [...runsOf(readFileSync(join(root, file), 'utf8'))].find((words) => theirs.has(words));
      return found === undefined ? [] : [`${file}: ${found}`];
    });
  assert.deepEqual(copied, []);
});
