/**
 * Checks CertificateSigningRequests: the request must be readable, and a user who approves or signs must be
 * authorized for that signer (upstream: the plugins CertificateApproval, CertificateSigning and
 * CertificateSubjectRestriction).
 */
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as resource,
} from '../../api/certificates/v1/certificate-signing-request.ts';
import {
  clientSigner,
  kubeletClientSigner,
  kubeletServingSigner,
} from '../../api/certificates/v1/conditions.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newInvalid } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import {
  expiredNodeNameOf,
  isBootstrapper,
  mastersGroup,
  nodeNameOf,
  nodeUserName,
  type UserInfo,
} from '../../apiserver/request/user.ts';
import { errorMessage } from '../../base/log.ts';
import type { CertificateRequestContent } from '../../formats/certificate-request.ts';
import type { KubeContext } from '../context.ts';
import { mayActForSigner } from './signer-access.ts';

/** The objects of an admission. */
interface Requests {
  readonly object?: CertificateSigningRequest;
  readonly old?: CertificateSigningRequest;
}

export const certificateSigningRequests = (server: Parts): AdmissionPlugin => ({
  name: 'CertificateSigningRequests',
  // The size is limited before validation, which takes long for a large request.
  mutate: ({ definition, object, user }) => {
    if (isRequest(definition) && object) limitSize(object, user);
  },
  validate: (admission) => admitRequest(server, admission),
});

type Parts = Pick<KubeContext, 'authorize' | 'readCertificateRequest'>;

const isRequest = ({ group, plural }: ResourceRef) => group === resource.group && plural === resource.plural;

async function admitRequest(server: Parts, admission: Admission): Promise<void> {
  const { definition, user, subresource } = admission;
  if (!isRequest(definition)) return;
  const { object, old } = admission as Requests;
  if (!object) return;
  if (!old) return admitCreate(server, object, user);
  if (subresource === 'approval') await requireSigner(server, user, 'approve', old);
  if (subresource === 'status' && object.status?.certificate !== old.status?.certificate) {
    await requireSigner(server, user, 'sign', old);
  }
}

/**
 * Maximum size of the JSON in bytes. The holder of a token or of an expired certificate may create many
 * requests. A certificate request with a key of any usual algorithm is smaller.
 */
const maxTokenBytes = 16 * 1024;

function limitSize(request: KubeObject, user: UserInfo): void {
  if (outsiderOf(user) === undefined) return;
  const size = Buffer.byteLength(JSON.stringify(request));
  if (size <= maxTokenBytes) return;
  const why = `it has ${size} bytes; the request of a joining machine may have at most ${maxTokenBytes}`;
  throw newForbidden(resource, request.metadata.name, why);
}

async function admitCreate(server: Parts, request: CertificateSigningRequest, user: UserInfo): Promise<void> {
  const { spec, metadata } = request;
  const content = await read(server, request);
  const why = refusal(spec.signerName, content, user);
  if (why) throw newForbidden(resource, metadata.name, why);
}

/** Decodes the request. Messages do not repeat its content, which is long and encoded. */
async function read(
  server: Parts,
  { spec, metadata }: CertificateSigningRequest,
): Promise<CertificateRequestContent> {
  try {
    return await server.readCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1'));
  } catch (error) {
    const cause = invalidCause('spec.request', '<request data>', errorMessage(error));
    throw newInvalid(resource, metadata.name, [cause]);
  }
}

/**
 * Describes a user without a valid certificate: it has none yet, or its own has expired. Returns undefined
 * for any other user.
 */
function outsiderOf(user: UserInfo): string | undefined {
  if (isBootstrapper(user)) return 'a bootstrap token';
  return expiredNodeNameOf(user) === undefined ? undefined : 'a node with an expired certificate';
}

function refusal(signer: string, content: CertificateRequestContent, user: UserInfo): string | undefined {
  if (signer === clientSigner && content.organizations.includes(mastersGroup)) {
    return `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`;
  }
  const outsider = outsiderOf(user);
  if (outsider !== undefined && signer !== kubeletClientSigner) {
    return `${outsider} may only request certificates of signer ${kubeletClientSigner}`;
  }
  const node = nodeNameOf(user) ?? expiredNodeNameOf(user);
  if (node === undefined) return undefined;
  if (signer !== kubeletClientSigner && signer !== kubeletServingSigner) {
    return `a node may only request certificates of the signers ${kubeletClientSigner} and ${kubeletServingSigner}`;
  }
  return content.commonName === nodeUserName(node)
    ? undefined
    : `can only create a node CSR with CN=${nodeUserName(node)}`;
}

async function requireSigner(
  server: Parts,
  user: UserInfo,
  verb: 'approve' | 'sign',
  { spec, metadata }: CertificateSigningRequest,
): Promise<void> {
  if (await mayActForSigner(server, user, verb, spec.signerName)) return;
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(spec.signerName)}`;
  throw newForbidden(resource, metadata.name, why);
}
