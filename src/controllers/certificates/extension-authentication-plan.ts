/** Plans the ConfigMap by which extension servers authenticate the requests that they get. Pure. */
import type { ConfigMap } from '../../api/core/v1/config-map.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';

/** Namespace and name as in Kubernetes, because extension servers read the ConfigMap there. */
export const extensionAuthentication = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
};

/** Trust in the front proxy: which authority signs its certificate, and which name the certificate has. */
export interface FrontProxyTrust {
  /** PEM. */
  readonly authority: string;
  readonly name: string;
}

export type AuthenticationPlan =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly configMap: Draft<ConfigMap> }
  | { readonly type: 'update'; readonly configMap: ConfigMap }
  /** The ConfigMap is immutable and has other content: it is created again after its deletion. */
  | { readonly type: 'remove'; readonly uid: string };

/**
 * Returns the content. `clientAuthority` is in PEM. Without a front proxy, extension servers authenticate
 * client certificates and tokens alone.
 */
function contentOf(clientAuthority: string, frontProxy: FrontProxyTrust | undefined) {
  return {
    'client-ca-file': clientAuthority,
    ...(frontProxy && {
      'requestheader-client-ca-file': frontProxy.authority,
      'requestheader-allowed-names': JSON.stringify([frontProxy.name]),
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    }),
  };
}

export function planAuthentication(
  clientAuthority: string,
  frontProxy: FrontProxyTrust | undefined,
  existing: ConfigMap | undefined,
): AuthenticationPlan {
  const data = contentOf(clientAuthority, frontProxy);
  if (!existing)
    return {
      type: 'create',
      configMap: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...extensionAuthentication }, data },
    };
  // The deletion arrives as an event.
  if (isTerminating(existing)) return { type: 'none' };
  const { binaryData, ...rest } = existing;
  if (deepEqual(existing.data, data) && Object.keys(binaryData ?? {}).length === 0) return { type: 'none' };
  if (existing.immutable) return { type: 'remove', uid: existing.metadata.uid };
  return { type: 'update', configMap: { ...rest, data } };
}
