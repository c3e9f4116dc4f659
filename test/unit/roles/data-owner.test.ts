import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { requireOwnData } from '../../../src/roles/data-owner.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'minik8s-data-owner-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('an empty or missing directory may be used by every role', () => {
  for (const path of [directory, join(directory, 'none')])
    for (const role of ['up', 'master', 'node'] as const) requireOwnData(path, role);
});

test('the data of a master are refused to a node, and belong to both roles of masters', () => {
  mkdirSync(join(directory, 'pki'));
  assert.throws(() => requireOwnData(directory, 'node'), {
    message: `${directory} shows that this machine has been a master: run minik8s reset, which removes its pods and its data, or give another --data-dir`,
  });
  for (const role of ['up', 'master'] as const) requireOwnData(directory, role);
});

test('the data of a node that has joined are refused to masters; an interrupted join is not', () => {
  mkdirSync(join(directory, 'node'));
  writeFileSync(join(directory, 'node/request.key'), '');
  for (const role of ['up', 'master', 'node'] as const) requireOwnData(directory, role);
  writeFileSync(join(directory, 'node/client.pem'), '');
  for (const role of ['up', 'master'] as const)
    assert.throws(() => requireOwnData(directory, role), /this machine has joined a cluster as a node: run/);
  requireOwnData(directory, 'node');
});
