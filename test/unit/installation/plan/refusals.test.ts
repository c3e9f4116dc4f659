import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type InstallRequest,
  kubectlPath,
  unitPath,
} from '../../../../src/installation/plan/install-plan.ts';
import { sysctlFile } from '../../../../src/installation/plan/kernel.ts';
import type { Found, Machine } from '../../../../src/installation/plan/machine.ts';
import { requireNoOther } from '../../../../src/installation/plan/refusals.ts';
import { configFileOf } from '../../../../src/installation/plan/role.ts';
import { planOf } from '../../../fixtures/installation.ts';

test('a process that holds the data directory counts as started by hand only without the service', () => {
  for (const serviceState of ['active', 'activating', 'deactivating', 'reloading'] as const)
    requireNoOther(7, { serviceState });
  for (const serviceState of ['inactive', 'failed'] as const) {
    assert.throws(() => requireNoOther(7, { serviceState }), /process 7, started by hand; stop it first/);
    requireNoOther(undefined, { serviceState });
  }
});

describe('refusals', () => {
  const file: Found = { kind: 'file', text: 'mine', mode: 0o644 };
  const cases: readonly (readonly [string, Partial<Machine>, Partial<InstallRequest>, RegExp])[] = [
    [
      'without systemd and OpenRC',
      { serviceManager: undefined },
      {},
      /neither systemd nor OpenRC runs this machine/,
    ],
    [
      'with another installed role',
      { installed: { ...planOf().installed, role: 'node' } },
      {},
      /installed as node: run minik8s uninstall first/,
    ],
    [
      'with a unit of another program',
      { found: new Map([[unitPath, file]]) },
      {},
      /minik8s.service exists and was not/,
    ],
    [
      'with a sysctl file of another program',
      { found: new Map([[sysctlFile.path, file]]) },
      {},
      /10-minik8s.conf exists/,
    ],
    [
      'with another kubectl, if a link is requested',
      { found: new Map([[kubectlPath, file]]) },
      { linksKubectl: true },
      /kubectl exists already: leave out --link-kubectl/,
    ],
    [
      'with a kubectl that links elsewhere, if a link is requested',
      { found: new Map([[kubectlPath, { kind: 'link', target: '/opt/kubectl' }]]) },
      { linksKubectl: true },
      /kubectl exists already/,
    ],
  ];
  const current = planOf().installed;
  const more: typeof cases = [
    [
      'with data in another directory',
      { installed: { ...current, dataDir: '/srv/old' } },
      {},
      /installed with data in \/srv\/old: run minik8s uninstall first, or keep it/,
    ],
    [
      'with another Docker engine',
      { installed: { ...current, dockerSocket: '/run/old.sock' } },
      {},
      /the Docker engine at \/run\/old.sock: run minik8s uninstall first, or keep it/,
    ],
    [
      'with a given Docker engine that does not answer',
      { docker: 'missing' },
      { dockerSocket: '/run/chosen.sock' },
      /no Docker engine answers at \/run\/chosen.sock/,
    ],
    [
      'with a configuration file that is a link',
      { found: new Map([[configFileOf.up, { kind: 'link', target: '/srv/x.yaml' }]]) },
      {},
      /master.yaml is a symbolic link to \/srv\/x.yaml: move it away/,
    ],
  ];
  for (const [name, machine, request, expected] of [...cases, ...more])
    test(`${name} nothing is installed`, () => {
      assert.throws(() => planOf(machine, request), expected);
    });
});
