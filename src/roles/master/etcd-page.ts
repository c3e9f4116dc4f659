/** /metrics/etcd: the metrics page of the embedded etcd, unchanged. */
import type { Document } from '../../apiserver/options.ts';
import { respond, respondText } from '../../apiserver/respond.ts';
import { errorMessage } from '../../base/log.ts';
import { expositionType } from '../../base/metrics/exposition.ts';
import { readEtcdMetrics } from '../../storage/etcd-metrics.ts';

/** Requests the page from etcd through its unix socket; answers 503 if etcd does not respond. */
export const etcdPage =
  (socketPath: string): Document =>
  async () => {
    try {
      return respond(200, await readEtcdMetrics(socketPath), { 'content-type': expositionType });
    } catch (error) {
      return respondText(503, `etcd does not answer: ${errorMessage(error)}\n`);
    }
  };
