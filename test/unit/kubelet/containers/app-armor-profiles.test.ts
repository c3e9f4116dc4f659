import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { requireAppArmorProfile } from '../../../../src/kubelet/containers/app-armor-profiles.ts';

const root = mkdtempSync(join(tmpdir(), 'minik8s-apparmor-'));
after(() => rmSync(root, { recursive: true }));
const list = join(root, 'profiles');
writeFileSync(
  list,
  'docker-default (enforce)\n/usr/bin/man (complain)\nmy profile (unconfined)\n:other://own (kill)\n',
);

describe('an AppArmor profile of the machine', () => {
  for (const name of ['docker-default', '/usr/bin/man', 'my profile'])
    it(`${name} is one`, () => requireAppArmorProfile(list, name));

  for (const name of [
    'unconfined',
    '&unconfined',
    ':root://unconfined',
    'docker-default//&unconfined',
    'man',
    '',
    ' ',
  ])
    it(`${JSON.stringify(name)} is invalid`, () =>
      assert.rejects(
        requireAppArmorProfile(list, name),
        /^Error: there is no such profile on this machine$/,
      ));

  it('a kernel without a list has no profiles', () =>
    assert.rejects(
      requireAppArmorProfile(join(root, 'gone'), 'docker-default'),
      /^Error: the profiles of this machine cannot be read$/,
    ));
});
