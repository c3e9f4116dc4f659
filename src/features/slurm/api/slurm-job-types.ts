/** The types of SlurmJob. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const slurmJobTypes: DescribedTypes = {
  SlurmJob: {
    '': 'SlurmJob is a job of a Slurm cluster.',
    ...headFields('SlurmJob'),
    'spec!:SlurmJobSpec':
      'What is run. Nothing but cancel, activeDeadlineSeconds and ttlSecondsAfterFinished can be ' +
      'changed.',
    'status:SlurmJobStatus': 'How far the job is, written by the client.',
  },
  SlurmJobSpec: {
    'connection!:SlurmJobSpecConnection': 'How the login host of the Slurm cluster is reached.',
    'files:[]SlurmJobSpecFiles': 'Files that the job needs on the host, in all no more than 1 MB.',
    'filesFrom:[]SlurmJobSpecFilesFrom': 'ConfigMaps whose keys are files that the job needs.',
    'build:[]string':
      'Commands that are run in the work folder on the login host before the job is submitted. One that ' +
      'fails is the end of the job.',
    'run:[]string':
      'The commands of the job, one after the other until one fails. Exactly one of run, script and ' +
      'scriptFile is set.',
    'script:string': 'A whole batch script with its #SBATCH lines, instead of run.',
    'scriptFile:string': 'The path of a batch script among the files, instead of run.',
    'modules:[]string': 'Environment modules that are loaded before the commands of build and run.',
    'environment:{}string': 'Variables of the environment of the job.',
    'workDir:string':
      'The folder of the host below which the job has one of its own. Defaults to .minik8s/NAMESPACE in ' +
      'the home of the user.',
    'results:[]string':
      'Patterns such as out/*.csv of files below the work folder that are fetched at the end.',
    'resultsLimit:quantity':
      'How many bytes of results are fetched at most, no more than 64Mi. Defaults to 16Mi.',
    'keepFiles:bool': 'Whether the work folder stays on the host at the end. Defaults to false.',
    'partition:string': 'The partition, or several with commas between.',
    'account:string': 'The account that the job is charged to.',
    'qos:string': 'The quality of service.',
    'nodes:int32': 'How many nodes.',
    'tasks:int32': 'How many tasks in all.',
    'tasksPerNode:int32': 'How many tasks on each node.',
    'cpusPerTask:int32': 'How many CPUs for each task.',
    'gpus:int32': 'How many GPUs on each node.',
    'gpuType:string': 'The type of the GPUs, as Slurm calls it, such as a100.',
    'memory:quantity': 'Memory on each node, such as 4Gi.',
    'time:intOrString': 'How long it may run: a number of seconds, or as sbatch has it, such as 1:30:00.',
    'array:string': 'Numbers of the tasks of an array, as sbatch has them, such as 0-9%2.',
    'arguments:[]string': 'More options of sbatch, each as one word, such as --constraint=a100.',
    'activeDeadlineSeconds:int32':
      'Seconds after which the job is canceled, however far it is, since the client first saw it.',
    'ttlSecondsAfterFinished:int32': 'Seconds after its end when the object is deleted. Defaults to never.',
    'cancel:bool':
      'Ends the job: Slurm cancels it if it was submitted. It can be set at any time, and not be taken ' +
      'back.',
  },
  SlurmJobSpecConnection: {
    'secretName!:string':
      'Name of a Secret in the namespace of the job, with the keys host, port (22 without it), user, ' +
      'password or privateKey, passphrase of that key, and knownHosts: lines of known_hosts, or lines ' +
      'of a type and a key in base64.',
  },
  SlurmJobSpecFiles: {
    'path!:string': 'Its path below the work folder of the job.',
    'content:string': 'Its text.',
    'base64:string': 'Its bytes in base64, instead of a text.',
  },
  SlurmJobSpecFilesFrom: {
    'configMapName!:string': 'Name of a ConfigMap in the namespace of the job: each key is a file.',
    'path:string':
      'The folder below the work folder that the files are put into. Defaults to the work folder.',
  },
  SlurmJobStatus: {
    'phase:string':
      'How far it is: Waiting, Uploading, Building, Submitted, Running, Fetching, and at the end ' +
      'Succeeded, Failed or Canceled.',
    'acceptedTime:string': 'When the client first saw it.',
    'state:string': 'Its state as Slurm says, such as PENDING or COMPLETED.',
    'reason:string': 'Why it is in that state, as Slurm says, such as Resources.',
    'jobID:string': 'The number that Slurm gave it.',
    'nodes:string': 'The nodes that it runs on, as Slurm writes them.',
    'exitCode:int32': 'The exit status of the batch script; 128 and the number of a signal that ended it.',
    'submitTime:string': 'When Slurm took it.',
    'startTime:string': 'When Slurm started it.',
    'endTime:string': 'When it ended in Slurm.',
    'arrayTasks:{}int32': 'How many tasks of an array are in each state.',
    'workDir:string': 'Its work folder on the host.',
    'outputBytes:int64': 'How many bytes it has written to its standard output.',
    'errorBytes:int64': 'How many bytes it has written to its standard error.',
    'files:[]SlurmJobStatusFiles': 'Results that were fetched: SlurmFiles hold them.',
    'droppedFiles:[]SlurmJobStatusDroppedFiles': 'What was not fetched. The work folder is kept then.',
    'conditions:[]SlurmJobStatusConditions':
      'Connected, Uploaded, Built, Submitted and ResultsFetched say what was done; Complete and Failed ' +
      'how it ended.',
  },
  SlurmJobStatusFiles: {
    'path!:string': 'Its path below the work folder.',
    'size!:int64': 'How many bytes it has.',
  },
  SlurmJobStatusDroppedFiles: {
    'path!:string': 'Its path below the work folder.',
    'size!:int64': 'How many bytes it has.',
    'reason!:string': 'Why it was not fetched.',
  },
  SlurmJobStatusConditions: conditionFields,
};
