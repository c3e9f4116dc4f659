import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formerAddresses } from '../../../../src/roles/backup/former-addresses.ts';

const own = ['127.0.0.1', '10.77.0.2'];
const file = '/etc/minik8s/master.yaml';

describe('formerAddresses', () => {
  it('warns of each address in a restored configuration that this machine does not have', () => {
    const settings = { 'node-ip': '10.77.0.1', 'bind-address': '10.77.0.1' };
    assert.deepEqual(formerAddresses(settings, own, file), [
      '/etc/minik8s/master.yaml has node-ip: 10.77.0.1, which is no address of this machine: correct the file before minik8s starts',
      '/etc/minik8s/master.yaml has bind-address: 10.77.0.1, which is no address of this machine: correct the file before minik8s starts',
    ]);
  });

  it('accepts addresses of this machine, unspecified addresses, and a configuration without addresses', () => {
    assert.deepEqual(formerAddresses({ 'node-ip': '10.77.0.2', 'bind-address': '0.0.0.0' }, own, file), []);
    assert.deepEqual(formerAddresses({ 'bind-address': '::' }, own, file), []);
    assert.deepEqual(formerAddresses({}, own, file), []);
  });
});
