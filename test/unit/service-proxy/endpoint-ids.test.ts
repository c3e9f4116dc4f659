import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpointIdLimit, endpointIds } from '../../../src/service-proxy/endpoint-ids.ts';

const address = (ip: string, port = 8080) => ({ ip, port });

describe('the identities of endpoints', () => {
  it('differ by address and by port, and fit beside the bits of a mark', () => {
    const addresses = Array.from({ length: 20_000 }, (_, i) => address(`10.244.${i >> 8}.${i & 255}`));
    const ids = endpointIds([...addresses, address('10.244.0.1', 8081)]);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => Number.isInteger(id) && id >= 0 && id < endpointIdLimit));
  });

  it('are the next free number if two addresses have the same hash', () => {
    const addresses = Array.from({ length: 20_000 }, (_, i) => address(`10.244.${i >> 8}.${i & 255}`));
    const alone = addresses.map((one) => endpointIds([one])[0]);
    const together = endpointIds(addresses);
    const moved = together.filter((id, i) => id !== alone[i]).length;
    // Among 20,000 addresses, about 24 pairs share one of 8 million hashes.
    assert.ok(moved > 0 && moved < 100, `${moved} addresses did not keep their hash`);
  });
});
