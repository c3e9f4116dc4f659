import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleFile } from '../../kubernetes-suite/module-file.ts';
import { help, optionsOf } from '../../kubernetes-suite/options.ts';

test('the version of the suite is 1.32.5 unless another one is selected', () => {
  assert.equal(optionsOf([]).version, '1.32.5');
  assert.equal(optionsOf(['--version', '1.37.2']).version, '1.37.2');
});

test('no arguments select all tests on one node, six at a time', () => {
  const { pattern, nodes, procs, again, failed, writeDoc, kubeconfig } = optionsOf([]);
  assert.deepEqual(
    [pattern, nodes, procs, again, failed, writeDoc, kubeconfig],
    [undefined, 1, 6, false, false, false, undefined],
  );
});

test('each flag of the help page is accepted', () => {
  const values: Record<string, string[]> = {
    version: ['1.37.2'],
    nodes: ['2'],
    procs: ['3'],
    kubeconfig: ['/x'],
  };
  const flags = [...help.matchAll(/^ {2,6}(?:-h, )?--([a-z-]+)/gm)].map(([, flag]) => flag ?? '');
  assert.equal(flags.length, 10);
  for (const flag of flags)
    assert.doesNotThrow(() => optionsOf([`--${flag}`, ...(values[flag] ?? []), 'a']), flag);
});

const wrong: [args: string[], message: RegExp][] = [
  [['a', 'b'], /one REGEX, not 2/],
  [['('], /REGEX: /],
  [['--version', '1.37'], /--version is a release of Kubernetes such as 1\.37\.2, not 1\.37/],
  [['--nodes', '3'], /--nodes is a number from 1 to 2, not 3/],
  [['--procs', 'many'], /--procs is a number from 1 to 64, not many/],
  [['--procs', '0'], /--procs/],
  [['--again', '--failed'], /exclude each other/],
  [['--others'], /--others takes a REGEX/],
  [['--others', 'a', '--write-doc'], /exclude each other/],
  [['--dual-stack', '--kubeconfig', '/x'], /exclude each other/],
  [['--dual-stack', '--write-doc'], /exclude each other/],
  [['--agian'], /--agian/],
];
for (const [args, message] of wrong) {
  test(`refused: ${args.join(' ')}`, () => {
    assert.throws(() => optionsOf(args), message);
  });
}

test('modules from Kubernetes’ own repository are replaced by the published ones', () => {
  const text = moduleFile('1.32.5', {
    Go: '1.23.0',
    Require: [
      { Path: 'k8s.io/api', Version: 'v0.0.0' },
      { Path: 'example.org/x', Version: 'v1.2.3' },
    ],
    Replace: [
      { Old: { Path: 'k8s.io/api' }, New: { Path: './staging/src/k8s.io/api' } },
      { Old: { Path: 'k8s.io/client-go' }, New: { Path: './staging/src/k8s.io/client-go' } },
    ],
  });
  assert.equal(
    text,
    `module conformance
go 1.23.0
require k8s.io/kubernetes v1.32.5
require example.org/x v1.2.3
replace k8s.io/api => k8s.io/api v0.32.5
replace k8s.io/client-go => k8s.io/client-go v0.32.5
`,
  );
});
