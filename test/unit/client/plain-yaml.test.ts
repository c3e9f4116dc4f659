/** The usual form of kubeconfigs, read without the YAML package, and compared with the package. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { formatKubeconfig } from '../../../src/client/kubeconfig.ts';
import { parsePlainYaml } from '../../../src/client/plain-yaml.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const data = Buffer.from('-----BEGIN CERTIFICATE-----\n'.repeat(40)).toString('base64');

const usual: Readonly<Record<string, string>> = {
  'kubectl writes': `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${data}
    server: https://10.0.0.1:6443
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    namespace: default
    user: kubernetes-admin
  name: kubernetes-admin@kubernetes
current-context: kubernetes-admin@kubernetes
kind: Config
preferences: {}
users:
- name: kubernetes-admin
  user:
    client-certificate: /etc/kubernetes/admin.crt
    client-key-data: ${data}
    exec:
      args: []
      command: aws
      env:
      - name: A
        value: "b c"
`,
  'minik8s writes': formatKubeconfig({
    clusters: { one: { server: 'https://[::1]:6443', 'insecure-skip-tls-verify': true } },
    users: { me: { token: 'abc.def' } },
    contexts: { one: { cluster: 'one', user: 'me' } },
    currentContext: 'one',
  }),
  'has comments and empty lines': '# a: b\n\na: b\n\n  # c\nd:\n  # e\n  - f\n  - g\n',
  'has quotes': `a: "b: c # d"\nb: 'c "d"'\nc: ""\nd: ''\n`,
};

/** Texts that look usual but have another meaning in YAML, or none. */
const other = [
  '',
  '# only a comment\n',
  'a:\nb: c\n',
  'a: b\n  c\n',
  'a: b c\n',
  'a: 1\n',
  'a: 0x10\n',
  'a: 1e3\n',
  'a: ~\n',
  'a: null\n',
  'a: True\n',
  'true: a\n',
  'a: .inf\n',
  'a: 2026-01-02\n',
  'a: b # c\n',
  'a: "b\\n"\n',
  "a: 'it''s'\n",
  'a: |\n  b\n',
  'a: >\n  b\n',
  'a: &x b\nc: *x\n',
  'a: !!str b\n',
  'a: {b: c}\n',
  'a: [b]\n',
  '<<: a\n',
  '__proto__: a\n',
  'a: b\na: c\n',
  'a:\n  b: c\n d: e\n',
  'a:\n\tb: c\n',
  'a: b\t\n',
  'a: b\r\nc: d\r\n',
  '---\na: b\n',
  'a: b\n---\nc: d\n',
  'a: b\n...\n',
  '{"a": "b"}\n',
  '- - a\n',
  '-\n  a: b\n',
  '? a\n: b\n',
  '\uFEFFa: b\n',
  'a: ä\n',
  'a: b:\n',
  'word\n',
  `${Array.from({ length: 5000 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')}${' '.repeat(5000)}a: b\n`,
];

describe('YAML without the package', () => {
  for (const [title, text] of Object.entries(usual))
    test(`reads a text that ${title}`, () => assert.deepEqual(parsePlainYaml(text), parse(text)));

  for (const text of other)
    test(`leaves ${JSON.stringify(text.slice(0, 30))} to the package`, () =>
      assert.equal(parsePlainYaml(text), undefined));

  test('reads a text of random pieces as the package does, or leaves it to the package', () => {
    const random = new SeededRandom(11);
    const pieces = [
      'a:',
      'b:',
      'c: d',
      'a: b',
      '- ',
      '- e',
      '- f: g',
      ' ',
      '  ',
      '    ',
      '\n',
      '\n',
      '\n',
      '#',
    ];
    pieces.push(': ', '"x"', "'y'", 'true', '{}', '[]', 'n', '/p:q', 'z=', 'h[i]', '"', '?', '-', '1', '~');
    let read = 0;
    for (let round = 0; round < 40_000; round++) {
      const count = 1 + Math.floor(random.next() * 9);
      const text = Array.from(
        { length: count },
        () => pieces[Math.floor(random.next() * pieces.length)] ?? '',
      ).join('');
      const value = parsePlainYaml(text);
      if (value === undefined) continue;
      read++;
      assert.deepEqual(value, parse(text), JSON.stringify(text));
    }
    assert.ok(read > 500, `${read} texts were read`);
  });
});
