import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EtcdFacts, etcdChecks, percentile } from '../../../../src/doctor/checks/etcd.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const page = (inUse: number, slow = 0) => `# HELP etcd_mvcc_db_total_size_in_bytes x
etcd_mvcc_db_total_size_in_bytes 9e+06
etcd_mvcc_db_total_size_in_use_in_bytes ${inUse}
etcd_server_quota_backend_bytes 1e+07
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 90
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.008"} ${99 - slow}
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.064"} 100
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 100
`;
const at = (name: string, facts: EtcdFacts['page'], pid?: number) =>
  linesOf(observe(etcdChecks, name, { page: facts }, pid === undefined ? {} : { pid }));

describe('checks of etcd', () => {
  it('report nothing about an etcd that answers', () =>
    assert.deepEqual(at('etcd-answers', { text: page(1) }, 42), []));

  it('advise restarting minik8s only if it runs', () => {
    assert.deepEqual(at('etcd-answers', { problem: 'ECONNREFUSED' }, 42), [
      'fault: etcd does not answer: ECONNREFUSED # systemctl restart minik8s.service',
    ]);
    assert.deepEqual(at('etcd-answers', { problem: 'ECONNREFUSED' }), ['note: etcd does not run']);
    assert.deepEqual(at('etcd-size', { problem: 'ECONNREFUSED' }), []);
    assert.deepEqual(at('etcd-speed', { problem: 'ECONNREFUSED' }), []);
  });

  it("compare the 99th percentile of write durations with etcd's recommendation", () => {
    assert.deepEqual(at('etcd-speed', { text: page(1) }), [
      "ok: 99 of 100 writes of etcd's log took at most 8 ms",
    ]);
    assert.deepEqual(at('etcd-speed', { text: page(1, 1) }), [
      "note: 99 of 100 writes of etcd's log took at most 64 ms",
    ]);
    assert.deepEqual(at('etcd-speed', { text: '' }), []);
  });

  it('warn about a database that is four fifths full', () => {
    assert.deepEqual(at('etcd-size', { text: page(7.9e6) }), [
      'ok: the database has 9.0 MB of 10.0 MB, 7.9 MB in use',
    ]);
    assert.match(
      at('etcd-size', { text: page(8e6) })[0] ?? '',
      /^warning: the database has 9\.0 MB of 10\.0 MB, 8\.0 MB in use/,
    );
    assert.deepEqual(at('etcd-size', { text: '' }), ['note: etcd reports no size of its database']);
  });
});

describe('a percentile of a histogram', () => {
  it('is the bound of its bucket, and absent for an empty one', () => {
    const text = 'a_bucket{le="1"} 0\na_bucket{le="+Inf"} 0\nb_bucket{le="1"} 1\nb_bucket{le="+Inf"} 2\n';
    assert.equal(percentile(text, 'a', 0.99), undefined);
    assert.equal(percentile(text, 'b', 0.5), 1);
    assert.equal(percentile(text, 'b', 0.99), Number.POSITIVE_INFINITY);
  });
});
