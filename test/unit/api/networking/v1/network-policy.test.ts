import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkPolicyResource } from '../../../../../src/api/networking/v1/network-policy.ts';
import { maxCauses } from '../../../../../src/apimachinery/status-error.ts';
import { cells, created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, spec } from '../../../../fixtures/workloads.ts';

const policy = {
  ...head('networking.k8s.io/v1', 'NetworkPolicy'),
  spec: { podSelector: { matchLabels: { app: 'web' } } },
};
const ports = (...list: object[]) => spec({ ingress: [{ ports: list }] });
const from = (...list: object[]) => spec({ ingress: [{ from: list }] });
const to = (...list: object[]) => spec({ egress: [{}, { to: list }] });
const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, except } });
const port = 'spec.ingress[0].ports[0]';
const peer = 'spec.egress[1].to[0]';

testCreate(networkPolicyResource, policy, [
  ['nothing', { spec: null }],
  [
    'an invalid selector',
    spec({ podSelector: { matchLabels: { app: 'a b' } } }),
    'spec.podSelector.matchLabels: Invalid value: "a b": a valid label',
  ],
  ['ports', ports({}, { port: 80 }, { port: 'http', protocol: 'UDP' }, { port: 80, endPort: 80 })],
  ['another protocol', ports({ protocol: 'ICMP' }), `${port}.protocol: Unsupported value: "ICMP"`],
  [
    'an invalid port',
    ports({ port: 0, endPort: 65536 }),
    `${port}.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
    `${port}.endPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
  ],
  [
    'ports in the wrong order',
    ports({ port: 80, endPort: 79 }),
    `${port}.endPort: Invalid value: 79: must be greater than or equal to \`port\``,
  ],
  [
    'an endPort for a port without a number',
    ports({ port: 'HTTP', endPort: 80 }, { endPort: 80 }),
    `${port}.endPort: Invalid value: 80: may not be specified when \`port\` is non-numeric`,
    `${port}.port: Invalid value: "HTTP": must contain only alpha-numeric`,
    `${port}.port: Invalid value: "HTTP": must contain at least one letter`,
    'spec.ingress[0].ports[1].endPort: Invalid value: 80: may not be specified when `port` is not specified',
  ],
  ['peers', from({ podSelector: {} }, { podSelector: {}, namespaceSelector: {} }, block('10.0.0.0/8'))],
  ['nobody', to({}), `${peer}: Required value: must specify a peer`],
  [
    'an ipBlock beside a pod selector',
    to({ ...block('10.0.0.0/8'), podSelector: {} }),
    `${peer}: Forbidden: may not specify both ipBlock and another peer`,
  ],
  [
    'invalid peers',
    to({
      podSelector: { matchLabels: { app: 'a b' } },
      namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
    }),
    `${peer}.podSelector.matchLabels: Invalid value: "a b": a valid label`,
    `${peer}.namespaceSelector.matchExpressions[0].values: Required value: must be specified when`,
  ],
  ['no block', to(block('')), `${peer}.ipBlock.cidr: Required value`],
  [
    'an invalid block',
    to(block('10.0.0.0', 'x')),
    `${peer}.ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR`,
  ],
  [
    'ipBlocks with exceptions',
    to(block('10.0.0.0/8', '10.1.0.0/16', '10.2.3.4/32'), block('2001:db8::/32', '2001:db8:1::/48')),
  ],
  [
    'exceptions outside of the ipBlock',
    to(block('10.0.0.0/8', '10.0.0.0/8', '11.0.0.0/16', '2001:db8::/48', '10.1.0.0')),
    `${peer}.ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
    `${peer}.ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
    `${peer}.ipBlock.except[2]: Invalid value: "2001:db8::/48": must be a strict subset of \`cidr\``,
    `${peer}.ipBlock.except[3]: Invalid value: "10.1.0.0": must be a valid CIDR value`,
  ],
  ['egress only', spec({ policyTypes: ['Egress'] })],
  [
    'another type',
    spec({ policyTypes: ['Ingress', 'Both'] }),
    'spec.policyTypes[1]: Unsupported value: "Both": supported values: "Ingress", "Egress"',
  ],
  [
    'too many policy types',
    spec({ policyTypes: ['Ingress', 'Egress', 'Both'] }),
    'spec.policyTypes: Invalid value: ["Ingress","Egress","Both"]: may not specify more than two policyTypes',
  ],
]);

testUpdate(networkPolicyResource, policy, [
  [
    'every field',
    spec({ podSelector: { matchLabels: { app: null } }, policyTypes: ['Egress'], egress: [{}] }),
  ],
]);

test('the default types of a policy and the default protocol of a port are set', () => {
  const made = (patch: object) => created(networkPolicyResource, merge(policy, patch)).spec;
  assert.deepEqual(made({ spec: null }), { podSelector: {}, policyTypes: ['Ingress'] });
  assert.deepEqual(made(spec({ egress: [] })).policyTypes, ['Ingress']);
  assert.deepEqual(made(spec({ egress: [{}] })).policyTypes, ['Ingress', 'Egress']);
  assert.deepEqual(made(spec({ egress: [{}], policyTypes: ['Egress'] })).policyTypes, ['Egress']);
  assert.deepEqual(made(ports({ port: 80 })).ingress?.[0]?.ports, [{ protocol: 'TCP', port: 80 }]);
});

test('the columns of a network policy', () => {
  const texts = (patch: object) =>
    cells(networkPolicyResource, created(networkPolicyResource, merge(policy, patch)), 0);
  assert.deepEqual(texts({}), { Name: 'web', 'Pod-Selector': 'app=web', Age: '<unknown>' });
  assert.equal(texts({ spec: null })['Pod-Selector'], '<none>');
});

test('validation stops after the maximum number of causes', () => {
  const wrong = Array.from({ length: 10 * maxCauses }, (_, index) => `2001:db8::${index}`);
  const large = created(networkPolicyResource, merge(policy, from(block('2001:db8::/32'))));
  const [only] = large.spec.ingress?.[0]?.from ?? [];
  if (only?.ipBlock) only.ipBlock.except = wrong;
  assert.equal(networkPolicyResource.strategy.validate?.(large).length, maxCauses + 1);
});
