/** The node's part of a process: the agent, the pod network and the service proxy. */
import { unlessAborted } from '../../base/abort.ts';
import { runOverlay } from '../../network/overlay/overlay.ts';
import { shutdownPeriods, signalAfterPods } from './node-life.ts';
import type { WorkerOptions } from './worker-options.ts';
import { wireWorker } from './worker-wiring.ts';

/** Runs until the signal aborts; rejects if the node cannot work on this machine. */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { settings, exec, log } = options;
  const periods = shutdownPeriods(settings);
  const worker = await wireWorker(options);
  const stop = new AbortController();
  const going = signalAfterPods({ kubelet: worker.kubelet, periods, exec, log }, signal);
  const ended = AbortSignal.any([going, stop.signal]);
  const parts = runParts(worker, ended);
  try {
    await Promise.all(parts);
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
    const { proxyInformers, dnsInformers, ingressInformers, gatewayInformers } = worker;
    const all = [proxyInformers, dnsInformers, ingressInformers, gatewayInformers];
    await Promise.all(all.map((informers) => informers.stopped()));
    await worker.events.stop();
  }
}

/** Runs each part until the signal aborts. */
function runParts(
  worker: Awaited<ReturnType<typeof wireWorker>>,
  ended: AbortSignal,
): readonly Promise<void>[] {
  const { kubelet, policies, rules, proxier, announcer, webServer, dns, proxyInformers } = worker;
  const { overlay, registered, furtherRanges } = worker;
  /**
   * Objects that all nodes read are watched only after registration: the API server would reject these
   * requests earlier.
   */
  const member = async (work: () => Promise<unknown>) => {
    try {
      await unlessAborted(ended, registered);
      await work();
    } catch (error) {
      if (!ended.aborted) throw error;
    }
  };
  const proxy = async () => {
    await proxyInformers.start(ended);
    await Promise.all([proxier.run(ended), announcer.run(ended), webServer.run(ended)]);
  };
  return [
    kubelet.run(ended),
    policies.run(ended),
    rules.run(ended),
    member(() => policies.read(ended)),
    member(proxy),
    member(() => runOverlay(overlay, ended)),
    member(() => furtherRanges.run(ended)),
    dns.run(ended),
  ];
}
