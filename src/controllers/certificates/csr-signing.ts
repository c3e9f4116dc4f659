/**
 * Signs approved requests of the built-in signers. Requests that may not be signed are permanently marked as
 * failed.
 */
import { certificateSigningRequestResource as requestResource } from '../../api/certificates/v1/certificate-signing-request.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import type {
  ControllerContext,
  ControllerDefinition,
  ControllerFactory,
} from '../../controller-runtime/definition.ts';
import { watched } from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import type {
  CertificateRequestContent,
  ReadCertificateRequest,
  SignCertificateRequest,
} from '../../formats/certificate-request.ts';
import { awaitsSigning, signerRefusal, signingTerms } from './csr-signing-plan.ts';

export const csrSigningRights: AccountRights = {
  kubernetes: [
    ['get list watch', 'certificates.k8s.io', 'certificatesigningrequests'],
    ['update', 'certificates.k8s.io', 'certificatesigningrequests/status'],
    [
      'sign',
      'certificates.k8s.io',
      'signers',
      'kubernetes.io/kube-apiserver-client kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown',
    ],
  ],
};

export interface CsrSigningOptions {
  readonly read: ReadCertificateRequest;
  readonly sign: SignCertificateRequest;
}

export const csrSigning =
  (options: CsrSigningOptions): ControllerFactory =>
  (context) =>
    csrSigningController(context, options);

function csrSigningController(
  { client, clock, informers, log }: ControllerContext,
  { read, sign }: CsrSigningOptions,
): ControllerDefinition {
  const requests = informers.informerFor(requestResource).lister;

  async function reconcile(key: ObjectKey): Promise<undefined> {
    const request = requests.get(key);
    if (!request || !awaitsSigning(request)) return;
    const pem = Buffer.from(request.spec.request, 'base64').toString('latin1');
    const content = await read(pem).catch((): CertificateRequestContent | undefined => undefined);
    const refusal = signerRefusal(request, content);
    const conditions = request.status?.conditions ?? [];
    const next = deepCopy(request);
    next.status =
      refusal === undefined
        ? { conditions, certificate: toBase64(await sign(pem, signingTerms(request, clock.now()))) }
        : {
            conditions: [
              ...conditions,
              { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: refusal },
            ],
          };
    await ifPresent(client.resource(requestResource).updateStatus(next));
    const fields = { request: key, signer: request.spec.signerName, ...(refusal && { refusal }) };
    log.info(refusal ? 'certificate request failed' : 'certificate issued', fields);
  }

  return {
    name: 'csr-signing',
    workers: 2,
    watches: [watched(requestResource, ({ metadata }) => [metadata.name])],
    reconcile,
  };
}

const toBase64 = (text: string) => Buffer.from(text).toString('base64');
