import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { carryOut } from '../../../src/installation/carry-out.ts';
import { linkTo } from '../../../src/installation/upgrade.ts';
import { type Exec, ExecError, type ExecOptions } from '../../../src/os/exec.ts';

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

test('a reset that rejects the configuration file is repeated without it, with a warning', async () => {
  const config = '/etc/minik8s/master.yaml';
  const calls: (readonly string[])[] = [];
  const exec: Exec = async (file, args) => {
    calls.push(args);
    if (!args.includes(config)) return { stdout: '', stderr: '' };
    const stderr = `error: ${config}: line 2: prot: no such setting\n`;
    throw new ExecError({ file, args, stdout: '', stderr, code: calls.length > 2 ? 1 : 2 }, 'exit status 2');
  };
  const step = { kind: 'reset', dataDir: '/a', dockerSocket: '/s', keepData: true, config } as const;
  const warnings: string[] = [];
  await carryOut(exec, step, (message) => warnings.push(message));
  assert.deepEqual(warnings, [`${config} is not read: ${config}: line 2: prot: no such setting`]);
  const places = ['reset', '--yes', '--data-dir', '/a', '--docker-socket', '/s'];
  assert.deepEqual(
    calls,
    [config, '/dev/null'].map((file) => [...places, '--config', file, '--keep-data']),
  );
  await assert.rejects(
    carryOut(exec, step, assert.fail),
    ExecError,
    'another failure is no fault of the file',
  );
});

test('a missing directory is reported with the path of the file, not of its draft', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-carry-out-'));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'none/minik8s.service');
  const exec: Exec = () => assert.fail();
  for (const step of [
    { kind: 'write-file', path, content: '', mode: 0o644 },
    { kind: 'copy-file', from: process.execPath, path },
    { kind: 'make-directory', path },
    { kind: 'make-link', path, target: '/x' },
  ] as const)
    await assert.rejects(carryOut(exec, step, assert.fail), {
      message: `${path} cannot be changed: the directory ${join(folder, 'none')} does not exist: create it`,
    });
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

test('the drafts of writers that were killed are removed with their file, and no others', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-carry-out-'));
  context.after(() => rm(folder, { recursive: true }));
  const kept = ['others.minik8s-4194305-0', `node.yaml.minik8s-${process.pid}-0`, 'node.yaml.minik8s-x-0'];
  for (const each of [...kept, 'node.yaml', 'node.yaml.minik8s-4194305-0', 'node.yaml.minik8s-4194306-7'])
    await writeFile(join(folder, each), 'token');
  const exec: Exec = () => assert.fail();
  await carryOut(exec, { kind: 'remove-path', path: join(folder, 'node.yaml') }, assert.fail);
  assert.deepEqual((await readdir(folder)).sort(), kept.sort());
  await carryOut(exec, { kind: 'remove-path', path: join(folder, 'gone/node.yaml') }, assert.fail);
});

test('a second name of a file replaces another file, and is given again without a trace', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-link-'));
  context.after(() => rm(folder, { recursive: true }));
  const [now, kept] = [join(folder, 'minik8s'), join(folder, 'minik8s.old')];
  await writeFile(now, 'new');
  await writeFile(kept, 'old');
  await writeFile(`${kept}.minik8s-4194305-0`, 'left by a killed upgrade');
  for (const turn of ['first', 'again']) {
    await linkTo(now, kept);
    assert.equal(await readFile(kept, 'utf8'), 'new', turn);
    assert.deepEqual((await readdir(folder)).sort(), ['minik8s', 'minik8s.old'], turn);
  }
});
