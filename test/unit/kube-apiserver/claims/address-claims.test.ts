/** The claims of IPAddresses, which keep Services from their addresses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IPAddress } from '../../../../src/api/networking/v1/ip-address.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { addressClaims } from '../../../../src/kube-apiserver/claims/address-claims.ts';

const address = (parentRef: object | undefined) =>
  ({ metadata: { name: 'fd00::7', uid: 'u' }, spec: { parentRef } }) as unknown as IPAddress;
const thing = { group: 'example.com', resource: 'services', name: 'a' };
const ofService = { resource: 'services', namespace: 'default', name: 'a' };
const key = '/claims/cluster-ips/fd00::7';
const none: ReadonlySet<string> = new Set();

describe('an IPAddress', () => {
  it('of another object claims its address, and releases it', () => {
    assert.deepEqual(addressClaims.plan(address(thing), undefined, none), {
      acquire: [{ key, owner: 'u' }],
    });
    assert.deepEqual(addressClaims.held(address(thing)), { release: [key] });
  });

  it('of a Service claims nothing, since the Service has the address', () => {
    assert.deepEqual(addressClaims.plan(address(ofService), undefined, new Set([key])), { acquire: [] });
    assert.deepEqual(addressClaims.held(address(ofService)), { release: [] });
  });

  it('is rejected as existing if its address is taken', () => {
    assert.throws(
      () => addressClaims.plan(address(thing), undefined, new Set([key])),
      (error) => error instanceof StatusError && error.status.reason === 'AlreadyExists',
    );
  });

  it('claims nothing more when it is changed, and nothing without a reference', () => {
    assert.deepEqual(addressClaims.plan(address(thing), address(thing), none), {});
    assert.deepEqual(addressClaims.plan(address(undefined), undefined, none), {});
  });
});
