/** /metrics/etcd: the metrics page of the embedded etcd, unchanged. */
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Document } from '../../apiserver/options.ts';
import { respond, respondText } from '../../apiserver/respond.ts';
import { errorMessage } from '../../base/log.ts';
import { expositionType } from '../../base/metrics/exposition.ts';

const patienceMs = 5000;

/** Requests the page from etcd through its unix socket; answers 503 if etcd does not respond. */
export const etcdPage =
  (socketPath: string): Document =>
  async () => {
    try {
      const page = await new Promise<string>((resolve, reject) => {
        const headers = { host: 'etcd' };
        const asked = request({ socketPath, path: '/metrics', headers, timeout: patienceMs });
        asked.once('timeout', () => asked.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
        asked.once('error', reject);
        asked.once('response', (answer: IncomingMessage) => text(answer).then(resolve, reject));
        asked.end();
      });
      return respond(200, page, { 'content-type': expositionType });
    } catch (error) {
      return respondText(503, `etcd does not answer: ${errorMessage(error)}\n`);
    }
  };
