// Answers texts with a SavedModel as TensorFlow Serving does, and measures it under load: with the
// server's loader, LoadSavedModel, and its scheduler of batches, SharedBatchScheduler, but without
// its network.
//
//   load_saved_model LIBRARY FOLDER OUTPUT MAX_BATCH_SIZE TIMEOUT_MICROS THREADS MAX_BATCHES SIZES
//
// LIBRARY has the tokenizer's operations, which the server has linked. OUTPUT is the string output of
// the signature serving_default that is compared. The numbers are those of batching.config; SIZES are
// separated by commas.
//
// Reads the number of texts and the texts, one on each line, and answers each alone. Then each line of
// input is a round: CLIENTS SECONDS. In a round, each client sends a text, waits for the answer, and
// sends the next one. For each round a line is written: the texts that failed, those that were answered
// otherwise than alone, the seconds, and the seconds of each text that was answered.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/kernels/batching_util/shared_batch_scheduler.h"
#include "tensorflow/core/public/session.h"

namespace {

using Clock = std::chrono::steady_clock;
using tensorflow::Tensor;
using tensorflow::tstring;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void Check(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << status.ToString() << std::endl;
    std::exit(1);
  }
}

struct Settings {
  int max_batch_size, timeout_micros, threads, max_batches;
  std::vector<int> sizes;
};

// A request for one text, which waits for its batch.
struct Request {
  tstring text, answer;
  absl::Status status;
  absl::Notification done;
};

class Task : public tensorflow::serving::BatchTask {
 public:
  explicit Task(Request* request) : request(request) {}
  size_t size() const override { return 1; }

  Request* const request;
};

using Batch = tensorflow::serving::Batch<Task>;
using Scheduler = tensorflow::serving::SharedBatchScheduler<Task>;

class Server {
 public:
  Server(const std::string& folder, const std::string& output, const Settings& settings)
      : settings_(settings) {
    tensorflow::SessionOptions options;
    options.config.set_intra_op_parallelism_threads(1);
    options.config.set_inter_op_parallelism_threads(settings.threads);
    Check(tensorflow::LoadSavedModel(options, {}, folder, {"serve"}, &bundle_));
    const auto& signature = bundle_.GetSignatures().at("serving_default");
    input_ = signature.inputs().at("text").name();
    for (const auto& [name, info] : signature.outputs()) {
      if (name == output) compared_ = outputs_.size();
      outputs_.push_back(info.name());
    }

    Scheduler::Options pool;
    pool.num_batch_threads = settings.threads;
    Check(Scheduler::Create(pool, &scheduler_));
    Scheduler::QueueOptions queue;
    queue.input_batch_size_limit = queue.max_execution_batch_size = settings.max_batch_size;
    queue.batch_timeout_micros = settings.timeout_micros;
    queue.max_enqueued_batches = settings.max_batches;
    std::function<void(std::unique_ptr<Batch>)> process = [this](std::unique_ptr<Batch> batch) {
      Process(std::move(batch));
    };
    Check(scheduler_->AddQueue(queue, process, &queue_));
  }

  // Answers a request together with others, or fails.
  void Answer(Request* request) {
    std::unique_ptr<Task> task(new Task(request));
    request->status = queue_->Schedule(&task);
    if (request->status.ok()) request->done.WaitForNotification();
  }

  absl::Status Run(const std::vector<tstring>& texts, std::vector<tstring>* answers) {
    Tensor input(tensorflow::DT_STRING, {static_cast<int64_t>(texts.size())});
    std::copy(texts.begin(), texts.end(), input.flat<tstring>().data());
    std::vector<Tensor> fetched;
    const absl::Status status = bundle_.GetSession()->Run({{input_, input}}, outputs_, {}, &fetched);
    if (!status.ok()) return status;
    const auto rows = fetched[compared_].flat<tstring>();
    answers->assign(rows.data(), rows.data() + rows.size());
    return status;
  }

 private:
  // Computes a batch, whose last text is repeated until its size is an allowed one.
  void Process(std::unique_ptr<Batch> batch) {
    batch->WaitUntilClosed();
    if (batch->empty()) return;
    std::vector<tstring> texts, answers;
    for (int i = 0; i < batch->num_tasks(); ++i) texts.push_back(batch->task(i).request->text);
    const auto& sizes = settings_.sizes;
    const auto size = std::lower_bound(sizes.begin(), sizes.end(), batch->num_tasks());
    if (size != sizes.end()) texts.resize(*size, tstring(texts.back()));
    const absl::Status status = Run(texts, &answers);
    for (int i = 0; i < batch->num_tasks(); ++i) {
      Request* request = batch->task(i).request;
      request->status = status;
      if (status.ok()) request->answer = answers[i];
      request->done.Notify();
    }
  }

  const Settings settings_;
  tensorflow::SavedModelBundle bundle_;
  std::string input_;
  std::vector<std::string> outputs_;
  size_t compared_ = 0;
  std::shared_ptr<Scheduler> scheduler_;
  std::unique_ptr<tensorflow::serving::BatchScheduler<Task>> queue_;
};

// The requests of a round.
struct Round {
  std::atomic<size_t> next{0}, failed{0}, different{0};
  std::vector<std::vector<double>> latencies;  // Of each client.
};

void RunClient(Server* server, const std::vector<tstring>& texts, const std::vector<tstring>& alone,
               double seconds, Round* round, std::vector<double>* latencies) {
  const auto began = Clock::now();
  while (Since(began) < seconds) {
    const size_t chosen = round->next++ % texts.size();
    Request request;
    request.text = texts[chosen];
    const auto sent = Clock::now();
    server->Answer(&request);
    if (request.status.ok()) {
      latencies->push_back(Since(sent));
      round->different += request.answer != alone[chosen];
    } else {
      ++round->failed;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) {
    std::cerr << "load_saved_model LIBRARY FOLDER OUTPUT MAX_BATCH_SIZE TIMEOUT_MICROS THREADS "
                 "MAX_BATCHES SIZES"
              << std::endl;
    return 1;
  }
  TF_Status* status = TF_NewStatus();
  TF_LoadLibrary(argv[1], status);
  if (TF_GetCode(status) != TF_OK) {
    std::cerr << TF_Message(status) << std::endl;
    return 1;
  }
  TF_DeleteStatus(status);

  Settings settings{std::stoi(argv[4]), std::stoi(argv[5]), std::stoi(argv[6]), std::stoi(argv[7]), {}};
  std::istringstream sizes(argv[8]);
  for (std::string size; std::getline(sizes, size, ',');) settings.sizes.push_back(std::stoi(size));
  Server server(argv[2], argv[3], settings);

  std::string line;
  std::getline(std::cin, line);
  std::vector<tstring> texts, alone;
  for (int i = std::stoi(line); i > 0 && std::getline(std::cin, line); --i) texts.push_back(line);
  for (const tstring& text : texts) {
    std::vector<tstring> answers;
    Check(server.Run({text}, &answers));
    alone.push_back(answers[0]);
  }

  int clients;
  double seconds;
  while (std::cin >> clients >> seconds) {
    Round round;
    round.latencies.resize(clients);
    std::vector<std::thread> threads;
    const auto began = Clock::now();
    for (auto& latencies : round.latencies) {
      threads.emplace_back(RunClient, &server, texts, alone, seconds, &round, &latencies);
    }
    for (std::thread& thread : threads) thread.join();
    std::cout << round.failed << " " << round.different << " " << Since(began);
    for (const auto& latencies : round.latencies) {
      for (const double latency : latencies) std::cout << " " << latency;
    }
    std::cout << std::endl;
  }
  return 0;
}
