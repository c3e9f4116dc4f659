import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { carryOut } from '../../../src/installation/carry-out.ts';
import type { Exec, ExecOptions } from '../../../src/os/exec.ts';

const name = 'MINIK8S_TRY_OF_CARRY_OUT';
afterEach(() => delete process.env[name]);

test('reset gets the paths in the record of the installation, and no settings from the environment', async () => {
  process.env[name] = 'x';
  const calls: (readonly [readonly string[], ExecOptions | undefined])[] = [];
  const exec: Exec = async (_, args, options) => {
    calls.push([args, options]);
    return { stdout: '', stderr: '' };
  };
  const step = { kind: 'reset', dataDir: '/srv/a', dockerSocket: '/run/b.sock' } as const;
  await carryOut(exec, { ...step, keepData: true, config: '/etc/minik8s/node.yaml' }, assert.fail);
  await carryOut(exec, { ...step, keepData: false, config: undefined }, assert.fail);
  const places = ['--data-dir', '/srv/a', '--docker-socket', '/run/b.sock'];
  assert.deepEqual(
    calls.map(([args]) => args),
    [
      ['reset', '--yes', ...places, '--config', '/etc/minik8s/node.yaml', '--keep-data'],
      ['reset', '--yes', ...places],
    ],
  );
  for (const [, options] of calls) {
    assert.ok(options?.env && !Object.hasOwn(options.env, name));
    assert.equal(options.env.PATH, process.env.PATH);
  }
});

test('kernel modules and parameters that cannot be set cause warnings, since the node checks them at its start', async () => {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const exec: Exec = async () => {
    throw new Error('no modprobe');
  };
  await carryOut(exec, { kind: 'load-modules', names: ['vxlan'] }, warn);
  await carryOut(exec, { kind: 'set-sysctl', name: 'no.such.parameter', value: '1' }, warn);
  assert.equal(warnings[0], 'the kernel modules vxlan were not loaded: no modprobe');
  assert.match(warnings[1] ?? '', /^no.such.parameter was not set to 1: ENOENT/);
  await assert.rejects(carryOut(exec, { kind: 'reload-services' }, warn), /no modprobe/);
});
