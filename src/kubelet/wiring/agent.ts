/**
 * Wires the agent, room by room: each room gets the parts that the rooms before it have made, so that no part
 * is used before it exists. The order follows the imports between the rooms.
 */
import { wireDevices } from './devices.ts';
import { wireEnvironment, wireNames } from './environment.ts';
import { wireFeatures } from './features.ts';
import { wireImages } from './images.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import { wireNode } from './node.ts';
import { wirePods } from './pods.ts';
import { wireRuntime } from './runtime.ts';
import { wireServer } from './server.ts';
import { shareParts } from './shared.ts';
import { wireUsage } from './usage.ts';
import { wireVolumes } from './volumes.ts';

export type AgentParts = ReturnType<typeof wireAgent>;

/** Starts nothing. Throws an error with a message of one line when the options do not fit this machine. */
export function wireAgent(options: KubeletOptions) {
  const shared = shareParts(options);
  const runtime = { ...shared, ...wireRuntime(shared) };
  const environment = { ...runtime, ...wireEnvironment(runtime) };
  const names = { ...environment, ...wireNames(environment) };
  const images = { ...names, ...wireImages(names) };
  const features = { ...images, ...wireFeatures(images) };
  const volumes = { ...features, ...wireVolumes(features) };
  const devices = { ...volumes, ...wireDevices(volumes) };
  const usage = { ...devices, ...wireUsage(devices) };
  const pods = { ...usage, ...wirePods(usage) };
  const node = { ...pods, ...wireNode(pods) };
  return { ...node, nodeServer: wireServer(node) };
}
