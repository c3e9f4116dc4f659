/** An extension server, as an APIService describes it. Pure. */
import { type APIService, availableOf } from '../../api/apiregistration/v1/api-service.ts';

export interface ExtensionServer {
  readonly group: string;
  readonly version: string;
  /** The Service behind which the server listens. */
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  /** Authorities (PEM) of its certificate; undefined for those that the system trusts. */
  readonly authority: string | undefined;
  /** False if its certificate is not verified. */
  readonly isVerified: boolean;
}

/** Returns the extension server; undefined for an APIService of this server. */
export function extensionServerOf({ spec }: APIService): ExtensionServer | undefined {
  const { group = '', version = '', service, caBundle, insecureSkipTLSVerify } = spec;
  if (!service) return undefined;
  return {
    group,
    version,
    namespace: service.namespace ?? '',
    service: service.name ?? '',
    port: service.port,
    authority: caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined,
    isVerified: insecureSkipTLSVerify !== true,
  };
}

export const isAvailable = (service: APIService): boolean => availableOf(service)?.status === 'True';

/** Returns the name in the certificate of the server (upstream: BuildTransportConfig). */
export const serverName = ({ service, namespace }: ExtensionServer) => `${service}.${namespace}.svc`;

/** Returns the path at which the server has to answer with its discovery. */
export const discoveryPath = ({ group, version }: Pick<ExtensionServer, 'group' | 'version'>) =>
  group ? `/apis/${group}/${version}` : `/api/${version}`;
