/** Values that nodes read from settings, locks and versions for functions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import { withBuild } from '../../../../../src/features/functions/agent/plan/build-status.ts';
import {
  archiveOf,
  below,
  programFiles,
} from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import {
  namedPaths,
  passedVariables,
  settingsFiles,
} from '../../../../../src/features/functions/agent/plan/machine-settings.ts';
import {
  packageToInstall,
  portableLock,
} from '../../../../../src/features/functions/agent/plan/node-libraries.ts';
import { pipCommand } from '../../../../../src/features/functions/agent/plan/python-libraries.ts';
import { givenArchive, givenProblem } from '../../../../../src/features/functions/agent/plan/warm-use.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';

describe('settings of pip and npm', () => {
  const sources = (environment: Record<string, string>) =>
    settingsFiles(environment).map(
      ({ source, target }) => `${source} ${target.replace('/minik8s/home', '~')}`,
    );

  it('are in the files of the machine and of its user', () => {
    const pip = (home: string, config: string) => [
      ...['/etc/pip.conf /etc/pip.conf', `${home}/.pip/pip.conf ~/.pip/pip.conf`],
      `${config}/pip/pip.conf ~/.config/pip/pip.conf`,
    ];
    assert.deepEqual(sources({}), [
      ...pip('/root', '/root/.config'),
      ...['/etc/npmrc ~/global.npmrc', '/root/.npmrc ~/.npmrc'],
    ]);
    assert.deepEqual(sources({ HOME: '/h', XDG_CONFIG_HOME: '/c', PIP_CONFIG_FILE: '/own' }), [
      ...pip('/h', '/c'),
      ...['/own ~/.pip/own.conf', '/etc/npmrc ~/global.npmrc', '/h/.npmrc ~/.npmrc'],
    ]);
    assert.equal(sources({ PIP_CONFIG_FILE: '/dev/null' }).length, 5);
    for (const [one, other] of [
      ['npm_config_globalconfig', 'npm_config_userconfig'],
      ['NPM_CONFIG_GLOBALCONFIG', 'NPM_CONFIG_USERCONFIG'],
    ] as const)
      assert.deepEqual(sources({ [one]: '/g', [other]: '/u' }).slice(-2), [
        ...['/g ~/global.npmrc', '/u ~/.npmrc'],
      ]);
  });

  it('contain files of authorities, keys and packages without duplicates, and no parent folders', () => {
    const texts = [
      '[global]\ncert = /b/ca.pem\nfind-links = file:///w/one /w/two\nindex-url = /no\n',
      '//x/:keyfile="/k/key"\ncafile=/b/ca.pem\n',
    ];
    assert.deepEqual(
      namedPaths(
        { SSL_CERT_FILE: '/a/ca', HOME: '/no', PIP_CERT: '/w/../etc', CURL_CA_BUNDLE: 'a:b' },
        texts,
      ),
      ['/a/ca', '/b/ca.pem', '/k/key', '/w/one', '/w/two'],
    );
  });
});

describe('libraries', () => {
  it('for Python are wheels in a folder, and with a lock only those with its hashes', () => {
    const command = [
      ...['python3', '-I', '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input'],
      ...['--no-cache-dir', '--only-binary=:all:', '--no-user', '--no-compile', '--progress-bar=off'],
      ...['--target=libraries', '--report=report.json', '--requirement=requirements.txt'],
    ];
    assert.deepEqual(pipCommand(false), command);
    assert.deepEqual(pipCommand(true), [...command, '--no-deps', '--require-hashes']);
  });

  it('for Node are the dependencies of a package, and none of its other fields', () => {
    const given = {
      name: 'x',
      scripts: { install: 'rm' },
      dependencies: { a: '1' },
      optionalDependencies: { b: '2' },
    };
    const { dependencies, optionalDependencies, ...rest } = JSON.parse(
      packageToInstall(JSON.stringify({ ...given, overrides: { c: '$a' } })) ?? '{}',
    );
    assert.deepEqual([dependencies, optionalDependencies], [{ a: '1' }, { b: '2' }]);
    const { overrides, ...own } = rest;
    assert.deepEqual(overrides, { c: '$a' });
    assert.deepEqual(
      [own.name, own.version, own.private, own.scripts],
      ['function', '0.0.0', true, undefined],
    );
    assert.ok(!('overrides' in JSON.parse(packageToInstall(JSON.stringify(given)) ?? '{}')));
  });

  it('in a lock of Node come from a registry', () => {
    const one = { version: '1.0.0', integrity: 'sha512-x' };
    const lock = (entry: object) =>
      portableLock(JSON.stringify({ lockfileVersion: 2, packages: { 'node_modules/a': entry } }));
    const { packages, ...head } = JSON.parse(lock({ ...one, link: false }));
    assert.deepEqual(head, { name: 'function', version: '0.0.0', lockfileVersion: 3, requires: true });
    assert.deepEqual(Object.keys(packages), ['node_modules/a']);
    assert.equal(
      JSON.parse(lock({ ...one, resolved: 'http://x/a.tgz' })).packages['node_modules/a'].resolved,
      undefined,
    );
    for (const more of [
      { link: true },
      { link: true, resolved: 'https://x/a.tgz' },
      { resolved: 'xhttp://a' },
      { resolved: 1 },
    ])
      assert.throws(() => lock({ ...one, ...more }), /"node_modules\/a" is not a package of a registry/);
  });
});

it('keeps the other conditions and fields of the status', () => {
  const other = {
    type: 'Other',
    status: 'True',
    reason: 'x',
    message: '',
    lastTransitionTime: 'then',
  } as const;
  const result = { isBuilt: true, reason: 'Built', message: 'm', log: 'l', nodeName: 'n1', at: 'now' };
  const built = { type: 'Built', status: 'True', reason: 'Built', message: 'm', lastTransitionTime: 'now' };
  assert.deepEqual(withBuild({ lock: 'k', conditions: [other] }, result), {
    ...{ lock: 'k', log: 'l', nodeName: 'n1', conditions: [other, built] },
  });
  assert.deepEqual(withBuild(undefined, { ...result, isBuilt: false }).conditions, [
    { ...built, status: 'False' },
  ]);
});

describe('a version that is assigned to a waiting instance', () => {
  const version = (more: object = {}) =>
    ({
      metadata: { name: 'fn-1', namespace: 'ns' },
      spec: {
        ...{
          function: 'fn',
          runtime: 'python',
          baseImage: 'python:3',
          handler: 'main.h',
          files: { 'main.py': 'x' },
        },
        ...{ image: 'minik8s.function/ns/fn:1', timeoutSeconds: 30, concurrency: 1, ...more },
      },
    }) as unknown as FunctionVersion;
  const waited = warmVersion('ns', 'python', 'python:3', sha256).spec.image;
  const pod = (image: string | undefined, namespace = 'ns') =>
    ({
      metadata: { name: 'p', namespace, labels: { 'minik8s.io/function': 'fn' } },
      spec: { containers: image === undefined ? [] : [{ image }] },
    }) as unknown as Pod;

  it('must have its function, its namespace, its runtime and its base image', () => {
    const problem = (one: FunctionVersion, of = pod(waited)) => givenProblem(of, one, sha256);
    assert.equal(problem(version()), undefined);
    assert.equal(problem(version({ function: 'g' })), 'FunctionVersion fn-1 belongs to function g, not fn');
    for (const [one, of] of [
      [version(), pod('other')],
      [version({ baseImage: 'python:4' }), pod(waited)],
      [version({ runtime: 'nodejs' }), pod(waited)],
      [version(), pod(waited, 'other')],
    ] as const)
      assert.match(problem(one, of) ?? '', /^FunctionVersion fn-1 needs an instance of .*, but the pod has /);
    const needsMore = problem(version({ files: { 'main.py': 'x', 'requirements.txt': 'a' } }));
    assert.match(needsMore ?? '', /^FunctionVersion fn-1 cannot be given to an instance that waited: ./);
  });

  it('has its files, and its variables in a separate file', () => {
    const text = Buffer.from(givenArchive(version())).toString('latin1');
    for (const part of ['main.py', 'minik8s/given.json', '"env":{']) assert.ok(text.includes(part), part);
  });
});

it('an instance that waited gets each variable of its version with its value', () => {
  const version = {
    metadata: { name: 'fn-1', namespace: 'ns' },
    spec: {
      ...{ function: 'fn', runtime: 'python', baseImage: 'python:3', handler: 'main.h', files: {} },
      ...{ image: 'minik8s.function/ns/fn:1', timeoutSeconds: 30, concurrency: 1 },
      env: [{ name: 'GREETING', value: 'hello' }, { name: 'EMPTY' }],
    },
  } as unknown as FunctionVersion;
  const [, json = ''] = /(\{"env":.*?\}\})/.exec(Buffer.from(givenArchive(version)).toString('latin1')) ?? [];
  const { GREETING, EMPTY, FUNCTION_HANDLER } = (JSON.parse(json) as { env: Record<string, string> }).env;
  assert.deepEqual([GREETING, EMPTY, FUNCTION_HANDLER], ['hello', '', 'main.h']);
});

it('files in base64 are bytes in the archive, folders before their content, and the end is marked', () => {
  const files = programFiles({
    spec: { files: { 'b/c.py': 'c' }, binaryFiles: { 'a/d.bin': '/wA=' } },
  } as unknown as FunctionVersion);
  assert.deepEqual(
    files.map(({ path, content }) => [path, Buffer.from(content).toString('hex')]),
    [
      ['b/c.py', '63'],
      ['a/d.bin', 'ff00'],
    ],
  );
  const archive = Buffer.from(archiveOf(below('function', files)));
  const names = Array.from({ length: archive.length / 512 }, (_, block) => 512 * block)
    .filter((at) => archive.toString('latin1', at + 257, at + 262) === 'ustar')
    .map((at) => archive.toString('latin1', at, at + 100).replace(/\0+$/, ''));
  assert.deepEqual(names, [
    ...['function/', 'function/a/', 'function/b/', 'function/a/d.bin', 'function/b/c.py'],
  ]);
  assert.ok(archive.subarray(-1024).every((byte) => byte === 0) && archive.length === 512 * 9);
});

it('certificate authorities of the environment are passed to a build, and a variable without a value is not', () => {
  const environment = { SSL_CERT_DIR: '/ca', NODE_EXTRA_CA_CERTS: '/n', PIP_CERT: undefined };
  assert.deepEqual(passedVariables(environment), ['SSL_CERT_DIR=/ca', 'NODE_EXTRA_CA_CERTS=/n']);
  assert.deepEqual(namedPaths(environment, []), ['/ca', '/n']);
});
