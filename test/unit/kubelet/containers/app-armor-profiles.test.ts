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

describe('AppArmor profiles of the machine', () => {
  for (const name of ['docker-default', '/usr/bin/man', 'my profile'])
    it(`include ${name}`, () => requireAppArmorProfile(list, name));

  for (const name of [
    'unconfined',
    '&unconfined',
    ':root://unconfined',
    'docker-default//&unconfined',
    'man',
    '',
    ' ',
  ])
    it(`do not include ${JSON.stringify(name)}`, () =>
      assert.rejects(
        requireAppArmorProfile(list, name),
        /^Error: there is no such profile on this machine$/,
      ));

  it('cannot be read if the kernel has no list of them', () =>
    assert.rejects(
      requireAppArmorProfile(join(root, 'gone'), 'docker-default'),
      /^Error: the profiles of this machine cannot be read$/,
    ));
});
