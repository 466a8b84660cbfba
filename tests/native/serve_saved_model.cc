// Serves requests with a SavedModel as TensorFlow Serving does: with its loader, LoadSavedModel,
// and no Python.
//
//   serve_saved_model LIBRARY FOLDER REQUESTS ANSWERS
//
// LIBRARY has the tokenizer's operations, which the server has linked. REQUESTS is a TFRecord file of
// tensorflow.serving.PredictionLogs, as warm-up requests are. ANSWERS becomes a TFRecord file: for
// each request a status, "OK" or what is wrong, and after an "OK" a tensorflow.NamedTensorProto for
// each output of the signature, in the order of their names.

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/lib/io/record_reader.h"
#include "tensorflow/core/lib/io/record_writer.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/named_tensor.pb.h"
#include "tensorflow/core/public/session.h"

namespace {

using Field = std::pair<int, std::string>;  // number and content
using Named = std::vector<std::pair<std::string, tensorflow::Tensor>>;

struct Request {
  std::string signature;
  Named inputs;
};

void Check(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << status.ToString() << std::endl;
    std::exit(1);
  }
}

// The fields of a message that are length-delimited; no others count here.
std::vector<Field> FieldsOf(const std::string& message) {
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t*>(message.data()), message.size());
  std::vector<Field> fields;
  while (const uint32_t tag = stream.ReadTag()) {
    uint32_t length;
    std::string content;
    if ((tag & 7) != 2 || !stream.ReadVarint32(&length) || !stream.ReadString(&content, length)) {
      std::cerr << "A message has a field of another kind." << std::endl;
      std::exit(1);
    }
    fields.emplace_back(tag >> 3, content);
  }
  return fields;
}

// The last field of a number, as protobuf has it; empty if there is none.
std::string FieldOf(const std::string& message, int number) {
  std::string found;
  for (const auto& [field, content] : FieldsOf(message)) {
    if (field == number) found = content;
  }
  return found;
}

Request ParsePredictionLog(const std::string& record) {
  const std::string predict = FieldOf(FieldOf(record, 6), 1);  // .predict_log.request
  Request request;
  request.signature = FieldOf(FieldOf(predict, 1), 3);  // .model_spec.signature_name
  for (const auto& [number, entry] : FieldsOf(predict)) {
    if (number != 2) continue;  // .inputs
    tensorflow::TensorProto proto;
    tensorflow::Tensor tensor;
    if (!proto.ParseFromString(FieldOf(entry, 2)) || !tensor.FromProto(proto)) {
      std::cerr << "An input is no tensor." << std::endl;
      std::exit(1);
    }
    request.inputs.emplace_back(FieldOf(entry, 1), tensor);
  }
  return request;
}

absl::Status Answer(const tensorflow::SavedModelBundle& bundle, const Request& request,
                    Named* answer) {
  const auto& signatures = bundle.GetSignatures();
  const auto signature = signatures.find(request.signature);
  if (signature == signatures.end()) {
    return absl::InvalidArgumentError("There is no signature " + request.signature);
  }
  Named feeds;
  for (const auto& [name, tensor] : request.inputs) {
    const auto input = signature->second.inputs().find(name);
    if (input == signature->second.inputs().end()) {
      return absl::InvalidArgumentError("There is no input " + name);
    }
    feeds.emplace_back(input->second.name(), tensor);
  }
  std::map<std::string, std::string> outputs;
  for (const auto& [name, info] : signature->second.outputs()) outputs[name] = info.name();
  std::vector<std::string> fetches;
  for (const auto& [name, tensor] : outputs) fetches.push_back(tensor);
  std::vector<tensorflow::Tensor> fetched;
  const absl::Status status = bundle.GetSession()->Run(feeds, fetches, {}, &fetched);
  if (!status.ok()) return status;
  size_t i = 0;
  for (const auto& [name, tensor] : outputs) answer->emplace_back(name, fetched[i++]);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "serve_saved_model LIBRARY FOLDER REQUESTS ANSWERS" << std::endl;
    return 1;
  }
  TF_Status* status = TF_NewStatus();
  TF_LoadLibrary(argv[1], status);
  if (TF_GetCode(status) != TF_OK) {
    std::cerr << TF_Message(status) << std::endl;
    return 1;
  }
  TF_DeleteStatus(status);

  tensorflow::SavedModelBundle bundle;
  Check(tensorflow::LoadSavedModel({}, {}, argv[2], {"serve"}, &bundle));

  tensorflow::Env* env = tensorflow::Env::Default();
  std::unique_ptr<tensorflow::RandomAccessFile> requests;
  std::unique_ptr<tensorflow::WritableFile> answers;
  Check(env->NewRandomAccessFile(argv[3], &requests));
  Check(env->NewWritableFile(argv[4], &answers));
  tensorflow::io::RecordReader reader(requests.get());
  tensorflow::io::RecordWriter writer(answers.get());
  uint64_t offset = 0;
  tensorflow::tstring record;
  while (reader.ReadRecord(&offset, &record).ok()) {
    Named answer;
    const absl::Status answered = Answer(bundle, ParsePredictionLog(std::string(record)), &answer);
    Check(writer.WriteRecord(answered.ok() ? "OK" : answered.ToString()));
    for (const auto& [name, tensor] : answer) {
      tensorflow::NamedTensorProto proto;
      proto.set_name(name);
      tensor.AsProtoField(proto.mutable_tensor());
      Check(writer.WriteRecord(proto.SerializeAsString()));
    }
  }
  Check(writer.Close());
  Check(answers->Close());
  return 0;
}
