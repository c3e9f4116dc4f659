import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ownInterfaceFiles } from '../../../config/kubernetes-types/own-interfaces.ts';

test("the generated interfaces of minik8s' own kinds agree with their types and rules", () => {
  const files = ownInterfaceFiles();
  assert.ok(files.size > 0);
  for (const [file, text] of files)
    assert.ok(
      readFileSync(file, 'utf8') === text,
      `${file} is out of date: run node config/kubernetes-types/own-interfaces.ts`,
    );
});
