import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { applyKuberc } from '../../../../src/cli/kuberc/apply.ts';
import { parsePreferences } from '../../../../src/cli/kuberc/preferences.ts';

const home = mkdtempSync(join(tmpdir(), 'minik8s-kuberc-'));
after(() => rmSync(home, { recursive: true }));

const beta = `apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: delete
  options: [{name: wait, default: "false"}]
aliases:
- {name: mk, command: create, options: [{name: output, default: name}], prependArgs: [configmap]}
`;
const alpha = beta
  .replace('v1beta1', 'v1alpha1')
  .replace('defaults', 'overrides')
  .replaceAll('options', 'flags');

test('both versions of kuberc mean the same', () => {
  const read = parsePreferences(beta, 'kuberc');
  assert.deepEqual(read, parsePreferences(alpha, 'kuberc'));
  assert.equal(read.unknown, undefined);
  assert.deepEqual(read.preferences.overrides, [
    { command: 'delete', flags: [{ name: 'wait', default: 'false' }] },
  ]);
  assert.equal(read.preferences.aliases[0]?.flags[0]?.default, 'name');
});

test('a field of the other version, or one that is not supported, is reported', () => {
  for (const [text, field] of [
    [beta.replace('defaults', 'overrides'), 'overrides'],
    [beta.replace('options: [{name: wait', 'flags: [{name: wait'), 'defaults[0].flags'],
    [`${beta}credentialPlugins: DenyAll\n`, 'credentialPlugins'],
    [`${beta}credentialPluginAllowlist: [{path: aws}]\n`, 'credentialPluginAllowlist[0].path'],
  ] as const)
    assert.equal(parsePreferences(text, 'kuberc').unknown, field);
  assert.throws(() => parsePreferences(beta.replace('v1beta1', 'v2'), 'kuberc'), /no valid preferences/);
});

test('the policy for credential plugins is read, and is not ignored if it is not valid', async () => {
  const policyOf = (lines: string) => parsePreferences(`${beta}${lines}`, 'kuberc').preferences.plugins;
  assert.equal(policyOf(''), undefined);
  assert.deepEqual(policyOf('credentialPluginPolicy: DenyAll\n'), { policy: 'DenyAll', allowed: [] });
  const list =
    'credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{command: aws}, {name: gcloud}]\n';
  assert.deepEqual(policyOf(list), { policy: 'Allowlist', allowed: ['aws', 'gcloud'] });
  const file = join(home, 'policy');
  const io = { env: { KUBERC: file }, homeDirectory: home, err: assert.fail };
  writeFileSync(file, `${beta}credentialPluginPolicy: Allowlist\n`);
  await assert.rejects(
    applyKuberc(['get'], io, {}, () => assert.fail()),
    /allowlist is unspecified or empty/,
  );
});

test('the file that $KUBERC names is read; --kuberc takes its place', async () => {
  const [named, other] = [join(home, 'named'), join(home, 'other')];
  writeFileSync(named, beta);
  writeFileSync(other, beta.replace('name: mk', 'name: other'));
  const create = {
    about: '',
    flags: { output: { type: 'string', hint: 'X', about: '' } },
    run: async () => {},
  };
  const expanded = (argv: readonly string[], KUBERC: string) => {
    const io = { env: { KUBERC }, homeDirectory: home, err: assert.fail };
    const verbs = { create: async () => create, delete: async () => create };
    return applyKuberc(argv, io, verbs as never, () => assert.fail());
  };
  assert.deepEqual(await expanded(['mk', 'x'], named), ['create', '--output=name', 'configmap', 'x']);
  assert.deepEqual(await expanded(['mk', 'x', `--kuberc=${other}`], named), ['mk', 'x']);
  assert.deepEqual(await expanded(['mk', 'x'], ''), ['mk', 'x']);
  await assert.rejects(expanded(['mk', 'x'], join(home, 'none')), /no such file or directory/);
});
