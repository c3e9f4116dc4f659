/** Addresses that a Service of two families claims and releases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ip, planned, service } from '../../../fixtures/service-claims.ts';

describe('a Service of two families', () => {
  const world = { serviceCIDR: '10.96.0.0/24,fd00:10:96::/112' };
  const both = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };

  test('gets an address of each range, in the order of its families', () => {
    const object = service(both);
    // 256 addresses of a range of 65,535 are reserved.
    assert.deepEqual(planned(object, world).acquire, [ip('10.96.0.17'), ip('fd00:10:96::101')]);
    assert.deepEqual(object.spec.clusterIPs, ['10.96.0.17', 'fd00:10:96::101']);
    const other = service({ ...both, ipFamilies: ['IPv6', 'IPv4'] });
    planned(other, world);
    assert.deepEqual(other.spec.clusterIPs, ['fd00:10:96::101', '10.96.0.17']);
    assert.equal(other.spec.clusterIP, 'fd00:10:96::101');
  });

  test('gets its second address when it begins to prefer two families', () => {
    const old = service({ clusterIP: '10.96.0.5', ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] });
    const object = service({
      clusterIP: '10.96.0.5',
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4'],
    });
    assert.deepEqual(planned(object, world, old), { acquire: [ip('fd00:10:96::101')], release: [] });
    assert.deepEqual(object.spec.clusterIPs, ['10.96.0.5', 'fd00:10:96::101']);
  });

  test('releases its second address when it becomes one of a single family', () => {
    const addresses = { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5', 'fd00:10:96::5'] };
    const old = service({ ...both, ...addresses });
    const object = service({ ...both, ...addresses, ipFamilyPolicy: 'SingleStack' });
    assert.deepEqual(planned(object, world, old), { acquire: [], release: [ip('fd00:10:96::5')] });
    assert.deepEqual(object.spec.clusterIPs, ['10.96.0.5']);
    // The range of IPv6 may have been removed from the cluster meanwhile.
    const again = service({ ...both, ...addresses, ipFamilyPolicy: 'SingleStack' });
    assert.deepEqual(planned(again, {}, old), { acquire: [], release: [ip('fd00:10:96::5')] });
  });

  test('claims an address under its canonical text', () => {
    const clusterIPs = ['FD00:10:96:0::A'];
    const object = service({ clusterIP: clusterIPs[0] ?? '', clusterIPs });
    assert.deepEqual(planned(object, world).acquire, [ip('fd00:10:96::a')]);
    assert.throws(
      () => planned(structuredClone(object), world, undefined, [ip('fd00:10:96::a')]),
      /already allocated/,
    );
  });

  test('is refused with an address outside the range of its family', () => {
    const clusterIPs = ['10.96.0.5', 'fd00:10:97::5'];
    assert.throws(
      () => planned(service({ ...both, clusterIP: '10.96.0.5', clusterIPs }), world),
      /failed to allocate IP fd00:10:97::5: the provided IP is not in the valid range. The range of valid IPs is fd00:10:96::\/112/,
    );
  });
});
