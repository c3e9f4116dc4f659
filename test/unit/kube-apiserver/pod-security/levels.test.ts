import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usualConfiguration } from '../../../../src/kube-apiserver/pod-security/configuration.ts';
import {
  isEquivalent,
  isPrivileged,
  isStricter,
  ownModes,
  type Policy,
  policyOf,
  readVersion,
  written,
} from '../../../../src/kube-apiserver/pod-security/levels.ts';

const usual = usualConfiguration.defaults;
const label = (name: string) => `pod-security.kubernetes.io/${name}`;
const labelled = (said: Record<string, string>) =>
  Object.fromEntries(Object.entries(said).map(([name, value]) => [label(name), value]));
const told = ({ enforce, audit, warn }: Policy) => [enforce, audit, warn].map(written);
const of = (said: Record<string, string>, defaults = usual) =>
  told(policyOf(labelled(said), defaults).policy);
const strict: Policy = {
  enforce: { level: 'baseline', version: 30 },
  audit: { level: 'restricted', version: 31 },
  warn: { level: 'restricted', version: 32 },
};

const everything = 'privileged:latest';

describe('the labels of a namespace', () => {
  const cases: [said: Record<string, string>, expected: string[], defaults?: Policy][] = [
    [{}, [everything, everything, everything]],
    [{}, ['baseline:v1.30', 'restricted:v1.31', 'restricted:v1.32'], strict],
    [{ enforce: 'baseline' }, ['baseline:latest', everything, 'baseline:latest']],
    [
      { enforce: 'restricted', 'enforce-version': 'v1.25' },
      ['restricted:v1.25', everything, 'restricted:v1.25'],
    ],
    [
      { enforce: 'restricted', 'enforce-version': 'v1.25', 'warn-version': 'v1.26' },
      ['restricted:v1.25', everything, 'restricted:v1.26'],
    ],
    [{ enforce: 'restricted', warn: 'baseline' }, ['restricted:latest', everything, 'baseline:latest']],
    [{ enforce: 'restricted', warn: 'odd' }, ['restricted:latest', everything, everything]],
    [{ 'enforce-version': 'v1.3' }, ['privileged:v1.3', everything, everything]],
    [{ enforce: 'privileged' }, ['privileged:v1.30', 'restricted:v1.31', 'restricted:v1.32'], strict],
    [
      { enforce: 'restricted', audit: 'baseline', warn: 'privileged' },
      ['restricted:v1.30', 'baseline:v1.31', 'privileged:v1.32'],
      strict,
    ],
    // A level that cannot be parsed counts as the strictest one for rejections, and gives no warnings for
    // itself.
    [{ enforce: 'Baseline' }, ['restricted:latest', everything, everything]],
    [{ enforce: '' }, ['restricted:latest', everything, everything]],
    [{ audit: 'x', warn: 'x' }, [everything, everything, everything]],
    [
      { audit: 'x', warn: 'x', 'enforce-version': 'x' },
      ['baseline:latest', 'privileged:v1.31', 'privileged:v1.32'],
      strict,
    ],
  ];
  for (const [said, expected, defaults] of cases)
    test(`${JSON.stringify(said)} beside ${defaults === strict ? 'strict' : 'usual'} defaults`, () =>
      assert.deepEqual(of(said, defaults), expected));

  test('are rejected one by one if they are invalid', () => {
    const { causes } = policyOf(
      labelled({
        enforce: 'none',
        'enforce-version': '1.25',
        audit: 'Restricted',
        'audit-version': 'v1.025',
        warn: '',
        'warn-version': 'v2.1',
      }),
      usual,
    );
    assert.deepEqual(
      causes.map(({ field, message }) => [field, message]),
      [
        ['enforce', 'Invalid value: "none": must be one of privileged, baseline, restricted'],
        ['enforce-version', 'Invalid value: "1.25": must be "latest" or "v1.x"'],
        ['audit', 'Invalid value: "Restricted": must be one of privileged, baseline, restricted'],
        ['audit-version', 'Invalid value: "v1.025": must be "latest" or "v1.x"'],
        ['warn', 'Invalid value: "": must be one of privileged, baseline, restricted'],
        ['warn-version', 'Invalid value: "v2.1": must be "latest" or "v1.x"'],
      ].map(([name, message]) => [`metadata.labels[${label(String(name))}]`, message]),
    );
  });

  test('with other names are ignored', () =>
    assert.deepEqual(of({ Enforce: 'restricted', 'enforce.version': 'v1.1', deny: 'x' }), [
      ...[everything, everything, everything],
    ]));
});

describe('versions', () => {
  const cases: [text: string, expected: number | 'latest' | undefined][] = [
    ['latest', 'latest'],
    ['v1.0', 0],
    ['v1.25', 25],
    ['v1.9007199254740991', Number.MAX_SAFE_INTEGER],
    ['v1.9007199254740993', undefined],
    [`v1.${'9'.repeat(60)}`, undefined],
    ['v1.-1', undefined],
    ['v1.1e3', undefined],
    ['v1.', undefined],
    ['v1', undefined],
    ['V1.1', undefined],
    ['v1.1\n', undefined],
    ['', undefined],
    ['Latest', undefined],
  ];
  for (const [text, expected] of cases)
    test(JSON.stringify(text), () => assert.equal(readVersion(text), expected));
});

describe('policies', () => {
  test('are privileged when every mode is privileged', () => {
    assert.ok(isPrivileged(usual));
    for (const mode of ['enforce', 'audit', 'warn'] as const)
      assert.ok(!isPrivileged({ ...usual, [mode]: { level: 'baseline', version: 'latest' } }), mode);
  });

  test('have levels from lax to strict', () => {
    assert.ok(isStricter('restricted', 'baseline') && isStricter('baseline', 'privileged'));
    assert.ok(!isStricter('baseline', 'baseline') && !isStricter('privileged', 'restricted'));
  });

  test('are equivalent when they allow the same pods', () => {
    assert.ok(isEquivalent(strict, strict));
    assert.ok(!isEquivalent(strict, { ...strict, warn: { level: 'restricted', version: 31 } }));
    assert.ok(isEquivalent(usual, { ...usual, enforce: { level: 'privileged', version: 5 } }));
    assert.ok(!isEquivalent(usual, { ...usual, enforce: { level: 'baseline', version: 'latest' } }));
  });

  test('have a short form with the labels of the namespace', () => {
    const labels = labelled({ enforce: 'baseline', 'warn-version': 'v1.20', audit: 'privileged' });
    assert.equal(
      ownModes(labels, policyOf(labels, strict).policy),
      'enforce=baseline:v1.30, warn=restricted:v1.20',
    );
  });
});
