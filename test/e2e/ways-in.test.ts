/**
 * The docs of the three ways to begin, and those of functions, images, load balancers, Ingresses and
 * daily work, followed as written on a machine after the quick start, with the one file in the PATH, its data
 * in the usual places, no kubectl, no registry and no images of runtimes. learn.md makes the folder of
 * `minik8s samples`, in which the next pages are followed.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../src/os/exec.ts';
import { masked } from '../fixtures/masked-output.ts';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { docker } from './harness/docker.ts';
import { consoleOf, follow, pageOf, quickStart } from './harness/guides.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Resolves to the whole output, and rejects unless the command succeeds. */
async function type(machine: BareMachine, command: string): Promise<string> {
  const { stdout, stderr } = await machine.run(command, { timeoutMs: 150_000 });
  return stdout + stderr;
}

const leaves = (status: number) => (error: unknown) =>
  error instanceof ExecError && error.failure.code === status;

/** Brings the image of nginx to the machine, which has no registry. */
async function bringNginx(machine: BareMachine, folder: string): Promise<void> {
  const image = `minik8s-test/nginx-guide:${process.pid}`;
  try {
    await makeNginxImage(image);
    await docker('save', '-o', `${folder}/nginx.tar`, image);
  } finally {
    await docker('image', 'rm', '-f', image);
  }
  await machine.run(`docker load -i '${folder}/nginx.tar'; docker tag ${image} nginx:alpine`);
}

test('the guides can be followed as written on a machine without kubectl', {
  timeout: 900_000,
}, async (context) => {
  const host = await Host.start(context, { docker: false });
  const machine = await BareMachine.start('vm1', host);
  await assert.rejects(machine.run('kubectl version --client'), leaves(127));
  await machine.run(quickStart, { timeoutMs: 300_000 });
  let folder = join(host.directory, 'home');
  mkdirSync(folder);

  await context.test('the commands of docs/learn.md work', async () => {
    for (const { command, says } of commandsOf(pageOf('learn.md'))) {
      const [, inner] = /^cd (\S+)$/.exec(command) ?? [];
      if (inner !== undefined) folder = join(folder, inner);
      const typed = `cd '${folder}'; ${inner === undefined ? command : ''}`;
      if (says === undefined) await type(machine, typed);
      else
        await waitFor(`${command} says ${says}`, async () => {
          const said = await type(machine, typed);
          if (!says.test(said)) throw new Error(said);
          return true;
        });
    }
  });

  await context.test('the commands of docs/build-with-it.md work', async () => {
    const prints = await follow(machine, pageOf('build-with-it.md'), folder);
    prints('The runtime', /^(docker\.io\/library\/)?python:3-slim /m);
    prints('A function', /^\{"greeting":"hello, you"\}$/m);
    prints('A function', /^called with \{'name': 'you'\}$/m);
    prints('A call by curl', /\{"greeting":"hello, curl"\}/);
    prints('For everybody', /\{"greeting":"hello, anybody"\}/);
    prints('Another version', /^\{"greeting":"good morning, you"\}$/m);
    const left = await machine.run('minik8s ctl get functions,images.minik8s.io -o name');
    assert.equal(left.stdout.trim(), '');
  });

  await context.test('the commands of docs/functions.md work', async () => {
    const prints = await follow(machine, pageOf('functions.md'), folder);
    prints('Without a registry', /^image node:lts-slim loaded /m);
    prints('The first function', /^\{"hello":"you","A":"1"\}$/m);
  });

  await context.test('the commands of docs/load-balancers.md work', async () => {
    for (const { command, output } of consoleOf(pageOf('load-balancers.md'))) {
      // The older of two Services gets a port, and ages have whole seconds.
      if (command.includes(' expose ')) await pause(1100);
      const own = command.replace(/\d+\.\d+\.\d+\.\d+/, host.address);
      await waitFor(command, async () => {
        assert.deepEqual(masked(await type(machine, own)), masked(output));
        return true;
      });
    }
    await machine.run('minik8s ctl delete deployment/web service/web service/other');
  });

  await context.test('the commands of docs/ingress.md work', async () => {
    await bringNginx(machine, host.directory);
    const prints = await follow(machine, pageOf('ingress.md'), folder);
    prints('Serve a host', /^hello from hello-/m);
    prints('Serve it by HTTPS', /^hello from hello-/m);
  });

  await context.test('the commands of docs/network-policies.md work', async () => {
    // The last block is read on a node that has denied packets.
    const page = pageOf('network-policies.md').split('## A pod does not start')[0] ?? '';
    const prints = await follow(machine, page, folder);
    prints('Try it', /^hello from web$.*^hello from web$.*^denied$/ms);
  });

  await context.test('the commands of docs/access.md work', async () => {
    const prints = await follow(machine, pageOf('access.md'), folder);
    prints('Roles', /^yes$/m);
    prints('Users', /^user alice can authenticate until /m);
    prints('Users', /^bob +ClusterRole\/view +<all>$/m);
    prints('Who am I, and what may I do', /^Username +kubernetes-admin$/m);
    prints('What pods may ask for', /^namespace\/shop labeled/m);
    await machine.run('minik8s user delete bob; minik8s ctl delete namespace shop');
  });

  await context.test('the commands of docs/images.md work', async () => {
    const prints = await follow(machine, pageOf('images.md'), folder);
    prints('Load one', /^minik8s\/hello:1 +sha256:/m);
    prints('Load one', /^image minik8s\/hello:1 removed$/m);
  });

  await context.test('the commands of docs/daily.md work', async () => {
    // A log that is followed ends by Ctrl-C, and the last command runs in the foreground.
    const page = pageOf('daily.md')
      .replaceAll(/^ {4}(.* -f)$/gm, '    timeout 3 $1 || [ $? = 124 ]')
      .replaceAll(/^ {4}(minik8s up .*)$/gm, '    setsid $1 >/var/log/up.out 2>&1 </dev/null &');
    const prints = await follow(machine, page);
    prints('Is it running, and is it healthy', /^minik8s up: running, healthy$/m);
    prints('Stop it', /^minik8s up \(process \d+\) has stopped$/m);
    prints('Its own log', / INFO {2}kubelet: /);
    await waitFor('the log and the node are there', async () => {
      assert.match(await type(machine, 'cat /var/log/minik8s.log'), / connected to the container engine /);
      return machine.run('minik8s status').then(() => true);
    });
  });

  await context.test('the commands of docs/run-it.md work', async () => {
    const prints = await follow(machine, pageOf('run-it.md'));
    prints('Every day', /^vm1 +Ready /m);
    prints('Back up', /\/var\/backups\/minik8s\/\S+\.tar\.zst\.age/);
    prints('Stop', /^minik8s up \(process \d+\) has stopped$/m);
    await assert.rejects(machine.run('minik8s status'), leaves(3));
  });
});
