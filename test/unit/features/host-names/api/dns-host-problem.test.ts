/** Host names that a Dns object may have, in any spelling. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dnsHostProblem } from '../../../../../src/features/host-names/api/dns-host-problem.ts';

const names = {
  domains: ['example', 'Apps.Corp.com.'],
  clusterDomain: 'cluster.example',
  machines: ['vm1', 'VM2.example.'],
};

describe('the host of a Dns object', () => {
  for (const host of ['shop.example', 'a.b.example', 'x.apps.corp.com', 'vm1.example'])
    it(`may be ${host}`, () => assert.equal(dnsHostProblem(host, names), undefined));
  for (const [host, why] of [
    ['deb.debian.org', /\*\.example.*--dns-domains/],
    ['kubernetes', /--dns-domains/],
    ['example', /--dns-domains/],
    ['apps.corp.com', /--dns-domains/],
    ['notexample', /--dns-domains/],
    ['x.myapps.corp.com', /--dns-domains/],
    ['example.org', /--dns-domains/],
    ['vm1', /node or a master/],
    ['vm2.example', /node or a master/],
    ['Vm2.Example.', /node or a master/],
    ['cluster.example', /own domain cluster\.example/],
    ['api.default.svc.cluster.example', /own domain/],
  ] as const)
    it(`may not be ${host}`, () => assert.match(dnsHostProblem(host, names) ?? '', why));
});
