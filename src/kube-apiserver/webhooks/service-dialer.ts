/**
 * Connects to the Service of a webhook. A master may have no route to cluster IPs, so the connection goes to
 * one of the Service's endpoints, through the kubelet of its node, as for services/proxy.
 */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { KubeContext } from '../context.ts';
import { dialPod } from '../proxy/dial.ts';
import { serviceLocation } from '../proxy/location.ts';
import { slicesByService } from '../slices-by-service.ts';
import type { ServiceDialer } from './client.ts';

type Server = Pick<KubeContext, 'cache' | 'clock' | 'nodeConnection' | 'random' | 'store'>;

export const serviceDialer =
  (server: Server): ServiceDialer =>
  async (namespace, name, port) => {
    const { cache, clock, nodeConnection, random } = server;
    const service = await findObject<Service>(server, serviceResource, namespace, name);
    if (!service) throw newNotFound({ group: '', plural: 'service' }, name);
    const slices = cache
      .index(slicesByService)
      .get(`${namespace}/${name}`)
      .map(({ object }) => object as EndpointSlice);
    const podOf = (pod: string) =>
      cache.get(storageKey(podResource, namespace, pod))?.object as Pod | undefined;
    const asked = { scheme: 'http', name, port: String(port) } as const;
    // TLS begins with the webhook itself, whose certificate is verified.
    return dialPod(nodeConnection, clock, serviceLocation(service, slices, podOf, asked, random.next()));
  };
