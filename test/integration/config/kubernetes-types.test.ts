import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generate, generatedFile } from '../../../config/kubernetes-types/generate.ts';

test('the table of types is what the Go modules of Kubernetes say', () => {
  assert.ok(
    readFileSync(generatedFile, 'utf8') === generate(),
    `${generatedFile} is out of date: run node config/kubernetes-types/generate.ts`,
  );
});
