/** The types of SlurmJob. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const slurmJobTypes: DescribedTypes = {
  SlurmJob: {
    '': 'SlurmJob is a job of a Slurm cluster.',
    ...headFields('SlurmJob'),
    'spec!:SlurmJobSpec':
      'The job. Only cancel, activeDeadlineSeconds and ttlSecondsAfterFinished can be changed.',
    'status:SlurmJobStatus': 'The state of the job, written by the client.',
  },
  SlurmJobSpec: {
    'connection!:SlurmJobSpecConnection': 'The connection to the login host of the Slurm cluster.',
    'files:[]SlurmJobSpecFiles': 'Files that the job needs on the host, at most 1 MB in total.',
    'filesFrom:[]SlurmJobSpecFilesFrom': 'ConfigMaps whose keys are files that the job needs.',
    'build:[]string':
      'Commands that are run in the work folder on the login host before the job is submitted. If a ' +
      'command fails, the job ends.',
    'run:[]string':
      'The commands of the job, one after the other until one fails. Exactly one of run, script and ' +
      'scriptFile is set.',
    'script:string': 'A whole batch script with its #SBATCH lines, instead of run.',
    'scriptFile:string': 'The path of a batch script among the files, instead of run.',
    'modules:[]string': 'Environment modules that are loaded before the commands of build and run.',
    'environment:{}string': 'Variables of the environment of the job.',
    'workDir:string':
      'The folder of the host below which the work folder of the job is created. Defaults to ' +
      '.minik8s/NAMESPACE in the home of the user.',
    'results:[]string':
      'Patterns such as out/*.csv of files below the work folder that are fetched at the end.',
    'resultsLimit:quantity': 'Maximum bytes of results that are fetched, at most 64Mi. Defaults to 16Mi.',
    'keepFiles:bool': 'Whether the work folder stays on the host at the end. Defaults to false.',
    'partition:string': 'The partition, or several, separated by commas.',
    'account:string': 'The account to which the job is charged.',
    'qos:string': 'The quality of service.',
    'nodes:int32': 'Number of nodes.',
    'tasks:int32': 'Number of tasks in total.',
    'tasksPerNode:int32': 'Number of tasks per node.',
    'cpusPerTask:int32': 'Number of CPUs per task.',
    'gpus:int32': 'Number of GPUs per node.',
    'gpuType:string': 'The type of the GPUs, by its name in Slurm, such as a100.',
    'memory:quantity': 'Memory per node, such as 4Gi.',
    'time:intOrString': 'Time limit: a number of seconds, or the format of sbatch, such as 1:30:00.',
    'array:string': 'Numbers of the tasks of an array in the format of sbatch, such as 0-9%2.',
    'arguments:[]string': 'More options of sbatch, each as one word, such as --constraint=a100.',
    'activeDeadlineSeconds:int32':
      'Seconds after which the job is canceled in any phase, counted from the time at which the client ' +
      'first saw it.',
    'ttlSecondsAfterFinished:int32':
      'Seconds after the end of the job when the object is deleted. Defaults to never.',
    'cancel:bool':
      'Ends the job: Slurm cancels it if it was submitted. It can be set at any time and cannot be unset.',
  },
  SlurmJobSpecConnection: {
    'secretName!:string':
      'Name of a Secret in the namespace of the job, with the keys host, port (22 without it), user, ' +
      'password or privateKey, passphrase of that key, and knownHosts: lines of known_hosts, or lines ' +
      'of a type and a key in base64.',
  },
  SlurmJobSpecFiles: {
    'path!:string': 'Path of the file below the work folder of the job.',
    'content:string': 'Content of the file as text.',
    'base64:string': 'Content of the file in base64, instead of text.',
  },
  SlurmJobSpecFilesFrom: {
    'configMapName!:string': 'Name of a ConfigMap in the namespace of the job: each key is a file.',
    'path:string':
      'The folder below the work folder in which the files are created. Defaults to the work folder.',
  },
  SlurmJobStatus: {
    'phase:string':
      'The phase of the job: Waiting, Uploading, Building, Submitted, Running, Fetching, and at the end ' +
      'Succeeded, Failed or Canceled.',
    'acceptedTime:string': 'Time at which the client first saw the job.',
    'state:string': 'The state that Slurm reports, such as PENDING or COMPLETED.',
    'reason:string': 'The reason that Slurm reports for the state, such as Resources.',
    'jobID:string': 'The number of the job in Slurm.',
    'nodes:string': 'The nodes on which the job runs, in the format of Slurm.',
    'exitCode:int32':
      'The exit status of the batch script; 128 plus the number of the signal if a signal ended it.',
    'submitTime:string': 'Time at which Slurm accepted the job.',
    'startTime:string': 'Time at which Slurm started the job.',
    'endTime:string': 'Time at which the job ended in Slurm.',
    'arrayTasks:{}int32': 'Number of tasks of an array in each state.',
    'workDir:string': 'The work folder of the job on the host.',
    'outputBytes:int64': 'Bytes that the job has written to its standard output.',
    'errorBytes:int64': 'Bytes that the job has written to its standard error.',
    'files:[]SlurmJobStatusFiles': 'Results that were fetched; SlurmFiles contain them.',
    'droppedFiles:[]SlurmJobStatusDroppedFiles':
      'Files that were not fetched. If there are any, the work folder is kept.',
    'conditions:[]SlurmJobStatusConditions':
      'Connected, Uploaded, Built, Submitted and ResultsFetched report the completed steps; Complete and ' +
      'Failed report the end of the job.',
  },
  SlurmJobStatusFiles: {
    'path!:string': 'Path of the file below the work folder.',
    'size!:int64': 'Size of the file in bytes.',
  },
  SlurmJobStatusDroppedFiles: {
    'path!:string': 'Path of the file below the work folder.',
    'size!:int64': 'Size of the file in bytes.',
    'reason!:string': 'Reason why the file was not fetched.',
  },
  SlurmJobStatusConditions: conditionFields,
};
