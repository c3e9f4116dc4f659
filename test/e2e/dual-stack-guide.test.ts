/** docs/dual-stack.md, followed as written on a machine with an IPv6 address, after the quick start. */
import { test } from 'node:test';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { docker } from './harness/docker.ts';
import { follow, pageOf, quickStart } from './harness/guides.ts';
import { Host } from './harness/host.ts';

const ranges = '--cluster-cidr 10.244.0.0/16,fd00:10:244::/56 --service-cidr 10.96.0.0/16,fd00:10:96::/112';

test('the commands of docs/dual-stack.md work as written', { timeout: 600_000 }, async (context) => {
  const host = await Host.start(context, { docker: false });
  await host.run('ip', 'address', 'add', '2001:db8:1::1/64', 'dev', 'eth0', 'nodad');
  const machine = await BareMachine.start('vm1', host);
  await machine.run(quickStart.replace('minik8s up ', `minik8s up ${ranges} `), { timeoutMs: 300_000 });
  const image = `minik8s-test/nginx-dual-stack:${process.pid}`;
  try {
    await makeNginxImage(image);
    await docker('save', '-o', `${host.directory}/nginx.tar`, image);
  } finally {
    await docker('image', 'rm', '-f', image);
  }
  await machine.run(`docker load -i '${host.directory}/nginx.tar'; docker tag ${image} nginx:alpine`);
  const prints = await follow(machine, pageOf('dual-stack.md'));
  prints('Make the cluster', /^10\.244\.0\.0\/24 fd00:10:244::\/64\n\S+ 2001:db8:1::1 vm1$/m);
  prints('Make the cluster', /^ok .*ranges: this machine uses no address of /m);
  prints('Make the cluster', /^ok .*ipv6-address: this machine has the IPv6 address 2001:db8:1::1 on eth0$/m);
  prints('Pods', /^10\.244\.0\.\d+ fd00:10:244::[0-9a-f]+$/m);
  prints('Pods', /^hello from web-/m);
  prints('Services', /^10\.96\.\d+\.\d+ fd00:10:96::[0-9a-f]+$/m);
  prints('Services', /^hello from web-/m);
  prints('From outside', /2001:db8:1::1/);
  prints('From outside', /(?:^hello from web-.*\n(?:.*\n)*){2}/m);
});
