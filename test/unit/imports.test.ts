import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { breaches } from '../fixtures/import-rules.ts';
import { importsIn, importsOf, sourceFiles, styleSheets } from '../fixtures/imports.ts';

const files = sourceFiles();
const imports = importsIn(files);

test('the source breaks no rule of layers, purity, packages and cycles', () => {
  assert.ok(files.length > 30 && imports.length > files.length, 'the source was not found');
  assert.deepEqual(breaches(imports), []);
});

test('every import of the source names an existing file, a package or a built-in with node:', () => {
  const known = new Set([...files, ...styleSheets()]);
  const missing = imports.filter(({ to }) => to.startsWith('src/') && !known.has(to));
  assert.deepEqual(missing, []);
  assert.deepEqual(
    imports.filter(({ to }) => /^(fs|path|net|http|crypto|child_process)(\/|$)/.test(to)),
    [],
  );
});

const wrong: [path: string, source: string, expected: RegExp][] = [
  ['src/base/x.ts', `import { a } from '../api/registry.ts';`, /base may import nothing else of src/],
  ['src/apiserver/x.ts', `import type { Client } from '../client/client.ts';`, /apiserver may import/],
  ['src/kubelet/x.ts', `export * from '../proxy/apply.ts';`, /kubelet may import/],
  [
    'src/cli/x.ts',
    `await import('../api/registry.ts');`,
    /cli may import base, os, formats, http, terminal, apimachinery, states-language, client, streams, why, views$/,
  ],
  ['src/apiserver.ts', `import '../src/kubelet/x.ts';`, /main may import/],
  [
    'src/api/x.ts',
    `import { join } from 'node:path';`,
    /src\/api\/x\.ts imports node:path: this place is pure/,
  ],
  [
    'src/kubelet/pods/plan/x.ts',
    `import { systemClock } from '../../../base/clock.ts';`,
    /this place is pure/,
  ],
  [
    'src/kubelet/volumes/x.ts',
    `import type { A } from '../pods/x.ts';`,
    /volumes may import runtime, environment, names/,
  ],
  ['src/kubelet/server/x.ts', `import { a } from '../kubelet.ts';`, /server may import runtime/],
  [
    'src/service-proxy/render-nft.ts',
    `import { Exec, systemExec } from '../os/exec.ts';`,
    /this place is pure/,
  ],
  ['src/controllers/hpa-plan.ts', `import {\n  sleep,\n} from '../base/clock.ts';`, /this place is pure/],
  ['src/states-language/x.ts', `import { a } from '../api/kinds.ts';`, /may import base, os, apimachinery$/],
  ['src/states-language/run/x.ts', `import { hash } from 'node:crypto';`, /this place is pure/],
  ['src/api/x.ts', `import jsonata from 'jsonata';`, /only .*language.* may/],
  ['src/kubelet/x.ts', `import { Hono } from 'hono';`, /only .*apiserver.* may/],
  ['src/service-proxy/x.ts', `import type Docker from 'dockerode';`, /only \^src\\\/docker\\\/ may/],
  [
    'src/features/host-names/api/x.ts',
    `import { a } from '../../../kube-apiserver/context.ts';`,
    /api may import base, settings, apimachinery, states-language, api$/,
  ],
  [
    'src/features/host-names/server/x.ts',
    `import { a } from '../controller/dns.ts';`,
    /a feature may import itself room by room, and the api of others/,
  ],
  [
    'src/features/host-names/controller/x.ts',
    `import { a } from '../../functions/controller/y.ts';`,
    /a feature may import itself room by room, and the api of others/,
  ],
  ['src/features/host-names/more/x.ts', `import '../../../base/log.ts';`, /a feature has the rooms api, /],
  ['src/features/host-names/api/x.ts', `import { join } from 'node:path';`, /this place is pure/],
  ['src/controllers/x.ts', `import { a } from '../features/index.ts';`, /controllers may import/],
  ['src/kube-apiserver/x.ts', `import { a } from '../features/host-names/api/dns.ts';`, /may import/],
  ['src/service-proxy/x.ts', `import { dockerClient } from '../docker/client.ts';`, /proxy may import/],
  ['src/control-plane/x.ts', `import { hostname } from 'node:os';`, /this place knows no machine/],
  [
    'src/control-plane/x.ts',
    `import { systemClock } from '../base/clock.ts';`,
    /this place knows no machine/,
  ],
  ['src/control-plane/x.ts', `import type { A } from '../roles/up.ts';`, /control-plane may import/],
  ['src/controllers/x.ts', `import { createApi } from '../control-plane/api.ts';`, /controllers may import/],
  ['src/dashboard/app/x.ts', `import { a } from '../../controllers/x.ts';`, /dashboard\/app may import/],
  ['src/dashboard/app/x.tsx', `import { join } from 'node:path';`, /browsers have no node:path/],
  ['src/dashboard/app/table/plan/x.ts', `import { h } from 'preact';`, /this place is pure/],
  ['src/roles/up.ts', `import x from '@scope/new/deep';`, /give the package an owner/],
];
for (const [path, source, expected] of wrong) {
  test(`${path} must not contain ${source.replaceAll('\n', ' ')}`, () => {
    const [line, ...more] = breaches(importsOf(path, source));
    assert.match(line ?? '', expected);
    assert.deepEqual(more, []);
  });
}

test('a second file that imports a package of one file, and a cycle, are rejected', () => {
  const shared = ['src/docker/a.ts', 'src/docker/b.ts'].flatMap((path) =>
    importsOf(path, `import 'dockerode';`),
  );
  assert.deepEqual(breaches(shared), [
    'dockerode is imported in src/docker/a.ts and src/docker/b.ts: one file may',
  ]);
  const cycle = [
    ...importsOf('src/base/a.ts', `import { b } from './b.ts';`),
    ...importsOf('src/base/b.ts', `export { c } from './c.ts';`),
    ...importsOf('src/base/c.ts', `import { a } from './a.ts';`),
  ];
  assert.deepEqual(breaches(cycle), [
    'cycle: src/base/a.ts -> src/base/b.ts -> src/base/c.ts -> src/base/a.ts',
  ]);
});

test('a cycle of type imports is rejected in every directory of the source', () => {
  for (const path of new Set(files.map((file) => dirname(file)))) {
    const types = [
      ...importsOf(`${path}/a.ts`, `import type { B } from './b.ts';`),
      ...importsOf(`${path}/b.ts`, `import type { A } from './a.ts';`),
    ];
    assert.deepEqual(breaches(types), [`cycle: ${path}/a.ts -> ${path}/b.ts -> ${path}/a.ts`]);
  }
});

test('a type import of the clock in a pure file, and a cycle that a dynamic import closes, are allowed', () => {
  const types = [
    ...importsOf('src/api/a.ts', `import type { Clock } from '../base/clock.ts';`),
    ...importsOf('src/base/a.ts', `import type { B } from './b.ts';`),
    ...importsOf('src/base/b.ts', `await import('./a.ts');`),
  ];
  assert.deepEqual(breaches(types), []);
});
