/** The stages of a run have all tests of their folders, in whatever folder below. */
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
