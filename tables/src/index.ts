// The public API of @fedkm/tables: from tables to clusters, and everything that is said about them. Nothing here needs Node.

export {
  type ChooseOutcome,
  type ChooseRequest,
  candidateWords,
  chooseTables,
  chosenWords,
} from "./choose/chooseTables.ts";
export { type ExportOptions, exportModel } from "./export/exportModel.ts";
export { answerFrame } from "./fit/answerFrame.ts";
export { checkFitRequest, type FitContext, type FitOutcome, type FitRequest, fitTables } from "./fit/fitTables.ts";
export {
  checkFitMethod,
  type MethodRequest,
  type NamedMethod,
  refitForStability,
} from "./fit/method.ts";
export { examineStability, type Stability, type StabilityTask } from "./fit/stability.ts";
export { deviceNames } from "./input/assignDevices.ts";
export {
  checkClassColumn,
  type DeviceTable,
  type FileInput,
  type Input,
  type InputFile,
  type RowsRequest,
  readInput,
  readInputClasses,
  readRowOrigins,
} from "./input/readTables.ts";
export type { SourceRequest } from "./input/sources.ts";
export { type ClassifiedColumn, inspectedRemarks } from "./inspect/columnRoles.ts";
export { fitCommandLine } from "./inspect/commandLine.ts";
export { type InspectedColumn, type InspectedTable, inspectedValue, inspectTable } from "./inspect/inspectTable.ts";
export { type Obstacle, type ProposedOptions, proposeForFiles, proposeOptions } from "./inspect/proposal.ts";
export { clustersInModelOrder } from "./model/clusterSums.ts";
export { modelCentroids, modelDeviceOfRow, modelDeviceOrName } from "./model/labelling.ts";
export {
  type ClusterModel,
  encodingOfModel,
  isModelShared,
  type MethodRun,
  MODEL_FORMAT,
  MODEL_VERSIONS,
  type Model,
  modelEndWords,
  modelRunWords,
} from "./model/model.ts";
export { modelLines } from "./model/modelLines.ts";
export { parseModel } from "./model/parseModel.ts";
export { labelsInOrder, rowColumns } from "./model/rowColumns.ts";
export { type LabelledTable, type PredictRequest, predictTables } from "./predict/predictTables.ts";
export {
  alikeLinks,
  isLinkRule,
  type LinksRequest,
  linkDevices,
  linkRules,
  linksAmongAlike,
  type NamedLinks,
} from "./prepare/links.ts";
export type { PrepareRequest } from "./prepare/prepare.ts";
export { applyChosenScaling, chooseScaling } from "./prepare/scaling.ts";
export type { DeviceNetwork, StudyPlan } from "./prepare/studyRows.ts";
export { type MethodSettings, RequestError, requestOptionNames } from "./request.ts";
export { type Verification, type VerifyRequest, verifyTables } from "./verify/verifyTables.ts";
export type { Progress, WorkContext } from "./work.ts";
