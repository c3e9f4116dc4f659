/**
 * A create with a validating webhook on loopback, compared with a create without a webhook and with the HTTPS
 * call alone.
 */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { administrators, clientOf } from '../api/servers.ts';
import { Lane, requestBytes } from '../lane.ts';
import { withMaster } from '../master.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';
import type { ExtensionOptions } from './options.ts';

const count = 200;
const maxMoreMs = 2;
const maps = '/api/v1/namespaces/default/configmaps';
const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** Reads and answers every review. */
function answerReviews(key: string, cert: string) {
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } };
      const answer = JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: asked.uid, allowed: true },
      });
      response.setHeader('content-type', 'application/json');
      response.setHeader('content-length', Buffer.byteLength(answer));
      response.end(answer);
    });
  });
  return new Promise<typeof server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const configuration = (port: number, authority: string) => ({
  metadata: { name: 'bench' },
  webhooks: [
    {
      name: 'maps.bench.example.com',
      clientConfig: {
        url: `https://127.0.0.1:${port}/`,
        caBundle: Buffer.from(authority).toString('base64'),
      },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
      matchConditions: [{ name: 'hooked', expression: 'object.metadata.name.startsWith("hooked")' }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    },
  ],
});

async function measure(rounds: number): Promise<readonly Row[]> {
  return withMaster(['--bind-address=127.0.0.1'], async ({ server, authority }) => {
    const target = await clientOf(Number(new URL(server).port), authority, administrators);
    const { key, certificate } = await issueCertificate(authority, {
      ...{ commonName: 'webhook', hosts: ['127.0.0.1'], usages: ['server'] },
      notBefore: Date.now() - 60_000,
      notAfter: Date.now() + 24 * 3_600_000,
    });
    const hook = await answerReviews(key, certificate);
    const { port } = hook.address() as AddressInfo;
    const lane = new Lane(target, true);
    const direct = new Lane({ port, ca: authority.certificate }, true);
    try {
      const body = JSON.stringify(configuration(port, authority.certificate));
      await lane.ask(requestBytes('POST', configurations, body));
      const create = (name: string) =>
        lane.ask(requestBytes('POST', maps, JSON.stringify({ metadata: { name }, data: { a: 'b' } })));
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'x' } };
      const ask = requestBytes('POST', '/', JSON.stringify(review));
      const ms = { hooked: [] as number[], plain: [] as number[], call: [] as number[] };
      // The first round is not counted. The three kinds of calls alternate, so that other load affects all of
      // them.
      for (let round = 0; round <= rounds; round++)
        for (let number = 0; number < count; number++) {
          const hooked = await timed(1, () => create(`hooked-${round}-${number}`));
          const plain = await timed(1, () => create(`plain-${round}-${number}`));
          const call = await timed(1, () => direct.ask(ask));
          if (round === 0) continue;
          ms.hooked.push(...hooked);
          ms.plain.push(...plain);
          ms.call.push(...call);
        }
      const more = median(ms.hooked) - median(ms.plain);
      const call = median(ms.call);
      return [
        { what: 'create without a webhook', value: median(ms.plain), unit: 'ms' },
        {
          what: 'additional time of a validating webhook',
          value: more,
          unit: 'ms',
          floor: { what: 'the HTTPS call alone', value: call },
          target: `< ${maxMoreMs} ms more`,
          met: more - call < maxMoreMs,
        },
      ];
    } finally {
      lane.close();
      direct.close();
      hook.close();
      hook.closeAllConnections();
    }
  });
}

export const webhook = ({ rounds }: ExtensionOptions): Benchmark => ({
  name: 'webhook',
  run: () => measure(rounds),
});
