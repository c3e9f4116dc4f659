/** Commands of the roles in the documentation have only flags that the role has. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { settingRows } from '../../src/roles/settings/setting-table.ts';

const root = join(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  // Records describe the flags of their time.
  .filter((path) => path !== '' && !path.startsWith('docs/decisions/'));

const rows: Readonly<Record<string, object>> = {
  up: settingRows('control plane', 'node'),
  master: settingRows('control plane'),
  node: settingRows('node', 'join'),
};

/** Returns `ROLE --FLAG` for each flag of a command such as `minik8s up --port 1`, to the end of the code. */
const flagsIn = (text: string): string[] =>
  [...text.matchAll(/minik8s (up|master|node)( [^`\n]*)/g)].flatMap(([, role, words = '']) =>
    [...words.matchAll(/ (--[a-z0-9-]+)/g)].map(([, flag]) => `${role} ${flag}`),
  );

function isKnown(use: string): boolean {
  const [role = '', flag = ''] = use.split(' --');
  return ['help', 'config'].includes(flag) || Object.hasOwn(rows[role] ?? {}, flag);
}

it('the documentation gives the roles no flag that they do not have', () => {
  const used = pages.flatMap((path) => flagsIn(readFileSync(join(root, path), 'utf8')));
  assert.ok(used.length > 8, `only ${used.length} flags were found`);
  assert.deepEqual(
    used.filter((use) => !isKnown(use)),
    [],
  );
});

it('a flag of another role, or of none, is found', () => {
  const text =
    '`minik8s node --port 1 --max-pods 2` or `minik8s up --no-such=3`; `--port` is not of a command';
  assert.deepEqual(flagsIn(text), ['node --port', 'node --max-pods', 'up --no-such']);
  assert.deepEqual(flagsIn(text).map(isKnown), [false, true, false]);
});
