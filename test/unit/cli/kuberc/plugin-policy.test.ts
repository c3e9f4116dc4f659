/** The policy of a kuberc for credential plugins. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { allowedProgram, validatePluginPolicy } from '../../../../src/cli/kuberc/plugin-policy.ts';

const root = mkdtempSync(join(tmpdir(), 'plugin-policy-'));
after(() => rmSync(root, { recursive: true }));
const [first, second] = [join(root, 'first'), join(root, 'second')];
const program = (folder: string, name: string) => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
};
const aws = program(first, 'aws');
const otherAws = program(second, 'aws');
const path = `${first}:${second}`;
const list = (...allowed: string[]) => ({ policy: 'Allowlist', allowed });

describe('a credential plugin', () => {
  it('runs as it is named if there is no policy', () => {
    for (const policy of ['', 'AllowAll'])
      assert.equal(allowedProgram('aws', { policy, allowed: [] }, path), 'aws');
  });

  it('does not run if the policy denies all', () => {
    const deny = { policy: 'DenyAll', allowed: [] };
    assert.throws(
      () => allowedProgram('aws', deny, path),
      /plugin "aws" not allowed: policy set to "DenyAll"/,
    );
  });

  for (const [what, command, entry, found] of [
    ['by its name', 'aws', 'aws', aws],
    ['by its path', aws, aws, aws],
    ['by its name, if the list has the path', 'aws', aws, aws],
    ['by its path, if the list has the name', aws, 'aws', aws],
  ] as const)
    it(`runs ${what}`, () => {
      assert.equal(allowedProgram(command, list('gcloud', entry), path), found);
    });

  for (const [what, command, entry] of [
    ['of another name', 'aws', 'gcloud'],
    ['of the same name in another folder', otherAws, aws],
    ['of the same name that comes later in $PATH', otherAws, 'aws'],
  ] as const)
    it(`does not run: one ${what}`, () => {
      assert.throws(() => allowedProgram(command, list(entry), path), /is not permitted by the credential/);
    });

  it('does not run if there is no such program', () => {
    assert.throws(() => allowedProgram('none', list('none'), path), /"none" cannot be resolved/);
  });
});

describe('a policy for credential plugins', () => {
  for (const [policy, allowed, problem] of [
    ['Deny', [], /unknown plugin policy "Deny"/],
    ['Allowlist', [], /but allowlist is unspecified or empty/],
    ['DenyAll', ['aws'], /but there is an allowlist/],
    ['', ['aws'], /but there is an allowlist/],
    ['Allowlist', [''], /empty entry/],
  ] as const)
    it(`is rejected as ${JSON.stringify(policy)} with ${JSON.stringify(allowed)}`, () => {
      assert.throws(() => validatePluginPolicy({ policy, allowed }), problem);
    });
});
