import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import {
  cleanLine,
  lastLines,
  tailOf,
} from '../../../../../src/features/functions/agent/plan/build-output.ts';
import { withBuild } from '../../../../../src/features/functions/agent/plan/build-status.ts';
import { archiveOf, programFiles } from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import { useProblem, versionProblem } from '../../../../../src/features/functions/agent/plan/image-use.ts';
import {
  namedPaths,
  passedVariables,
  settingsFiles,
} from '../../../../../src/features/functions/agent/plan/machine-settings.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';

const image = 'minik8s.function/team/hello:abc';
const pod = (namespace: string, label?: string) =>
  ({
    metadata: { namespace, labels: label === undefined ? {} : { 'minik8s.io/function-version': label } },
  }) as Pod;

test('only labelled pods of its namespace may use the image of a function', () => {
  assert.equal(useProblem(pod('team', 'hello-1'), image), undefined);
  assert.match(useProblem(pod('other', 'hello-1'), image) ?? '', /of namespace team/);
  assert.match(useProblem(pod('team'), image) ?? '', /needs the label/);
  for (const name of [
    'minik8s.function/team/hello',
    'minik8s.function/team/a/hello:1',
    'minik8s.function/team:1',
    `${image}@sha256:${'a'.repeat(64)}`,
  ])
    assert.match(useProblem(pod('team', 'x'), name) ?? '', /is not the name of a function/, name);
});

const version = (spec: object) =>
  ({
    metadata: { name: 'hello-1', namespace: 'team' },
    spec: {
      function: 'hello',
      runtime: 'python',
      handler: 'main.handler',
      baseImage: 'python:3',
      image,
      ...spec,
    },
  }) as FunctionVersion;

test('a version is built on the node of the pod that needs it', () => {
  assert.equal(versionProblem(version({}), image), undefined);
  assert.match(versionProblem(version({ image: `${image}d` }), image) ?? '', /has the image/);
  assert.match(versionProblem(version({ function: 'other' }), image) ?? '', /named after another/);
  assert.match(versionProblem(version({ baseImage: undefined }), image) ?? '', /baseImage to build from/);
  assert.match(
    versionProblem(version({ baseImage: 'minik8s.function/x/y:1' }), image) ?? '',
    /cannot be the image of a function/,
  );
});

test('an archive is the same for the same files, in any order of names', () => {
  const files = [
    { path: 'function/b/c.py', content: Buffer.from('c') },
    { path: 'function/a.py', content: Buffer.from('a') },
  ];
  assert.deepEqual(archiveOf(files), archiveOf(files.toReversed()));
  for (const path of ['../x', '/etc/passwd', 'a/../../x', './x', 'a//b', '', 'a\\..\\b', 'a\u0000b'])
    assert.throws(() => programFiles({ spec: version({ files: { [path]: '' } }).spec }), /the file/, path);
});

test('the log contains no password and no control characters', () => {
  assert.equal(cleanLine('Looking in https://user:word@host/simple'), 'Looking in https://****@host/simple');
  assert.equal(cleanLine('//host/:_authToken=word more'), '//host/:_authToken=****');
  assert.equal(cleanLine('\u001b[31mred\u001b[0m\u0007\ttab'), 'red\ttab');
  assert.equal(tailOf('ü\n'.repeat(10_000)).length > 1000, true);
  assert.ok(Buffer.byteLength(tailOf('ü'.repeat(10_000))) <= 4100);
  assert.ok(!tailOf('ü'.repeat(10_001), 101).includes('\uFFFD'));
  assert.equal(
    lastLines('1\n2\n\n3\n4\n5\n6\nnpm error A complete log of this run can be found in: x\n'),
    '2\n3\n4\n5\n6',
  );
});

test('the condition reports the newest build, with the time of its change', () => {
  const result = {
    reason: 'BuildFailed',
    message: 'a',
    log: 'l',
    nodeName: 'n1',
    at: '2026-01-01T00:00:00Z',
  };
  const failed = withBuild({ lock: 'x' }, { ...result, isBuilt: false });
  assert.deepEqual(failed, {
    ...{ lock: 'x', log: 'l', nodeName: 'n1' },
    conditions: [
      { type: 'Built', status: 'False', reason: 'BuildFailed', message: 'a', lastTransitionTime: result.at },
    ],
  });
  const later = '2026-01-02T00:00:00Z';
  const again = withBuild(failed, { ...result, isBuilt: false, message: 'b', at: later });
  assert.deepEqual(
    [again.conditions?.[0]?.message, again.conditions?.[0]?.lastTransitionTime],
    ['b', result.at],
  );
  const built = withBuild(again, { ...result, isBuilt: true, at: later });
  assert.deepEqual([built.conditions?.length, built.conditions?.[0]?.lastTransitionTime], [1, later]);
});

test("a build gets only the machine's settings of package indexes", () => {
  const environment = {
    PIP_INDEX_URL: 'u',
    PIP_TARGET: '/',
    PIP_NO_BINARY: ':all:',
    npm_config_registry: 'r',
    'npm_config_//host/:_authToken': 't',
    npm_config_ignore_scripts: 'false',
    HTTPS_PROXY: 'p',
    NODE_OPTIONS: '--require /x',
    AWS_SECRET_ACCESS_KEY: 's',
  };
  assert.deepEqual(passedVariables(environment), [
    ...['PIP_INDEX_URL=u', 'npm_config_registry=r', 'npm_config_//host/:_authToken=t', 'HTTPS_PROXY=p'],
  ]);
  assert.ok(settingsFiles({ HOME: '/home/a' }).some(({ source }) => source === '/home/a/.npmrc'));
  const texts = [
    '[global]\ncert = /etc/a.pem\nfind-links =\n  /w0\n',
    'cafile=/etc/b.pem\nregistry=/not\n',
    'cert=/etc/../x',
  ];
  assert.deepEqual(namedPaths({ PIP_FIND_LINKS: '/w1 file:///w2 https://x', HOME: '/h' }, texts), [
    ...['/etc/a.pem', '/etc/b.pem', '/w0', '/w1', '/w2'],
  ]);
});
