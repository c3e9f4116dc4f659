import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generate } from '../../../config/kubernetes-types/generate.ts';

test('the generated types agree with the Go modules of Kubernetes and the rules of the kinds', () => {
  for (const [file, text] of generate())
    assert.ok(
      readFileSync(file, 'utf8') === text,
      `${file} is out of date: run node config/kubernetes-types/generate.ts`,
    );
});
