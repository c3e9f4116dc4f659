/** The stages of a run have all tests of their folders, at any depth. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import { filesOf, stages } from '../../runner/stages.ts';

const root = join(import.meta.dirname, '../../..');

for (const stage of stages) {
  test(`${stage.name} has every test file below test/${stage.name}`, () => {
    const all = globSync(`test/${stage.name}/**/*.test.ts`, { cwd: root }).map((file) =>
      file.split(sep).join('/'),
    );
    assert.ok(all.length > 0);
    assert.deepEqual(filesOf(stage, [], root, root), all.sort());
  });
}

test('a folder is selected by its name or by its path, at any depth', () => {
  const unit = stages.find(({ name }) => name === 'unit') ?? assert.fail('no stage unit');
  const chosen = (name: string, cwd = root) => filesOf(unit, [name], root, cwd);
  assert.ok(chosen('runner').includes('test/unit/runner/stages.test.ts'));
  assert.deepEqual(chosen('test/unit/runner'), chosen('runner'));
  const deep = chosen('test/unit/features/triggers/agent');
  assert.ok(deep.length > 0 && deep.every((file) => file.startsWith('test/unit/features/triggers/agent/')));
  assert.deepEqual(chosen('features/triggers/agent/', join(root, 'test/unit')), deep);
  assert.throws(
    () => chosen('test/unit/nowhere'),
    /no test file or folder of unit tests: test\/unit\/nowhere/,
  );
});
