/** Admission: plugins change or refuse a write after decoding and before validation. */
import type { ServerContext } from '../server-context.ts';
import { certificateSigningRequests } from './certificate-signing-request.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction.ts';
import type { Admission, AdmissionPlugin } from './plugin.ts';
import { podReferences } from './pod-references.ts';

const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  nodeRestriction,
  defaultTolerationSeconds,
  podReferences,
  certificateSigningRequests,
];

export async function admit(server: ServerContext, admission: Admission): Promise<void> {
  for (const plugin of plugins) await plugin(server, admission);
}
