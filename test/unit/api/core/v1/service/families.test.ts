/** The families that a new or changed Service gets, by the families of the cluster. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseFamilies } from '../../../../../../src/api/core/v1/service/families.ts';
import type { Service } from '../../../../../../src/api/core/v1/service/service.ts';
import type { AddressFamily } from '../../../../../../src/base/address-families.ts';

type Spec = Service['spec'];

const four: readonly AddressFamily[] = ['IPv4'];
const both: readonly AddressFamily[] = ['IPv4', 'IPv6'];
const web = (spec: object): Spec =>
  ({ type: 'ClusterIP', sessionAffinity: 'None', selector: { app: 'web' }, ...spec }) as Spec;

function chosen(cluster: readonly AddressFamily[], spec: object, old?: object) {
  const after = web(spec);
  const causes = chooseFamilies(after, old && web(old), cluster);
  const { ipFamilyPolicy, ipFamilies, clusterIPs } = after;
  return causes.length > 0
    ? causes.map(({ field, message }) => `${field}: ${message}`)
    : { ipFamilyPolicy, ipFamilies, ...(clusterIPs && { clusterIPs }) };
}

const [v4, v6] = ['10.96.0.9', 'fd00:10:96::9'];
const headless = { clusterIP: 'None', clusterIPs: ['None'] };
const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] };
const prefers = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] };
const dual = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };
const one = { clusterIP: v4, clusterIPs: [v4] };
const two = { clusterIP: v4, clusterIPs: [v4, v6] };

describe('a new Service', () => {
  for (const [title, cluster, spec, expected] of [
    ['without families has the first one of the cluster', both, {}, single],
    [
      'with the second family alone has it',
      both,
      { ipFamilies: ['IPv6'] },
      { ...single, ipFamilies: ['IPv6'] },
    ],
    [
      'that prefers two families has both',
      both,
      { ipFamilyPolicy: 'PreferDualStack' },
      { ...dual, ipFamilyPolicy: 'PreferDualStack' },
    ],
    [
      'that prefers two families has one in a cluster of one',
      four,
      { ipFamilyPolicy: 'PreferDualStack' },
      prefers,
    ],
    ['that requires two families has both', both, { ipFamilyPolicy: 'RequireDualStack' }, dual],
    [
      'has the other family after its own',
      both,
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      { ...dual, ipFamilies: ['IPv6', 'IPv4'] },
    ],
    [
      'has the family of its address',
      both,
      { clusterIP: v6, clusterIPs: [v6] },
      { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'], clusterIPs: [v6] },
    ],
    [
      'has the families of its addresses',
      both,
      { ...two, ipFamilyPolicy: 'RequireDualStack' },
      { ...dual, clusterIPs: [v4, v6] },
    ],
    [
      'without an address, but with a selector, has one family',
      both,
      headless,
      { ...single, clusterIPs: ['None'] },
    ],
    [
      'without address and selector has both families',
      both,
      { ...headless, selector: {} },
      { ...dual, clusterIPs: ['None'] },
    ],
    [
      'without address and selector has both families in a cluster of one',
      four,
      { ...headless, selector: {} },
      { ...dual, clusterIPs: ['None'] },
    ],
    [
      'that is a name elsewhere has none',
      both,
      { type: 'ExternalName' },
      { ipFamilyPolicy: undefined, ipFamilies: undefined },
    ],
    [
      'that requires two families is refused in a cluster of one',
      four,
      { ipFamilyPolicy: 'RequireDualStack' },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ],
    ],
    [
      'of a family that the cluster lacks is refused',
      four,
      { ipFamilies: ['IPv6'] },
      ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    ],
    [
      'with an address of a family that the cluster lacks is refused',
      four,
      { clusterIP: v6, clusterIPs: [v6] },
      [`spec.clusterIPs[0]: Invalid value: ["${v6}"]: IPv6 is not configured on this cluster`],
    ],
    [
      'with an IPv4-mapped address is refused',
      both,
      { clusterIP: '::ffff:10.96.0.9', clusterIPs: ['::ffff:10.96.0.9'] },
      [
        'spec.clusterIPs[0]: Invalid value: ["::ffff:10.96.0.9"]: an IPv4-mapped IPv6 address is not configured on this cluster',
      ],
    ],
    [
      'of one family with two addresses and families is refused',
      both,
      { ...two, ipFamilies: ['IPv4', 'IPv6'] },
      [
        "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
        "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ],
    ],
  ] as const)
    test(title, () => assert.deepEqual(chosen(cluster, spec), expected));
});

describe('a changed Service', () => {
  for (const [title, spec, old, expected] of [
    [
      'keeps its policy if the update names none',
      { ...two },
      { ...dual, ...two },
      { ...dual, clusterIPs: [v4, v6] },
    ],
    [
      'gets a second family with another policy',
      { ...one, ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
      { ...single, ...one },
      { ...dual, ipFamilyPolicy: 'PreferDualStack', clusterIPs: [v4] },
    ],
    [
      'keeps one family that it preferred in a cluster of one',
      { ...prefers, ...one },
      { ...prefers, ...one },
      { ...prefers, clusterIPs: [v4] },
    ],
    [
      'loses its second family and address with the policy SingleStack',
      { ...dual, ...two, ipFamilyPolicy: 'SingleStack' },
      { ...dual, ...two },
      { ...single, clusterIPs: [v4] },
    ],
    [
      'is refused if it loses its second address under another policy',
      { ...dual, ...one },
      { ...dual, ...two },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary cluster IP',
      ],
    ],
    [
      'is refused if it loses its second family under another policy',
      { ...two, ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
      { ...dual, ...two },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary IP family',
      ],
    ],
    [
      'becomes one of two families when it has been a name elsewhere',
      { ipFamilyPolicy: 'PreferDualStack' },
      { type: 'ExternalName' },
      { ...dual, ipFamilyPolicy: 'PreferDualStack' },
    ],
  ] as const)
    test(title, () => assert.deepEqual(chosen(both, spec, old), expected));
});
